// Tape: records what was computed from which matrices, and carries the gradient of one number back
// to all of them.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <utility>
#include <vector>

namespace stagecraft {

using Matrix = Eigen::MatrixXd;

// Variable is a matrix on a tape; valid as long as the tape.
struct Variable {
  int index = -1;
};

// Parameter is a learned matrix and the gradient that tapes add up for it, of equal shape.
struct Parameter {
  explicit Parameter(Matrix start)
      : value(std::move(start)), gradient(Matrix::Zero(value.rows(), value.cols())) {}
  Matrix value;
  Matrix gradient;
};

// Tape is reverse-mode differentiation on one thread, in the order of the calls: the same calls
// give the same bits. Shapes that do not fit are bugs (CHECK).
class Tape {
 public:
  // Adds a matrix that gets no gradient.
  Variable Constant(Matrix value);
  // Adds a parameter. Backward() adds to parameter.gradient; `parameter` must outlive that call.
  Variable Read(Parameter& parameter);
  // Adds the result of any operation. `backward` gets the gradient of the result, and passes on
  // those of its inputs by AddGradient().
  Variable Record(Matrix value, std::function<void(Tape&, const Matrix& gradient)> backward);

  const Matrix& value(Variable variable) const { return nodes_[variable.index].value; }
  // Returns the gradient of the last Backward(); zero if the result does not depend on the
  // variable.
  Matrix gradient(Variable variable) const;
  void AddGradient(Variable variable, const Matrix& gradient);

  // Computes the gradients of `result`, which is 1 x 1. May be called only once for each tape.
  void Backward(Variable result);

 private:
  struct Node {
    Matrix value;
    Matrix gradient;  // empty: none yet
    std::function<void(Tape&, const Matrix&)> backward;
  };
  std::vector<Node> nodes_;
};

}  // namespace stagecraft
