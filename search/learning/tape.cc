#include "search/learning/tape.h"

#include <utility>

#include "costmodel/check.h"

namespace stagecraft {

Variable Tape::Constant(Matrix value) {
  nodes_.push_back({std::move(value), Matrix(), nullptr});
  return {static_cast<int>(nodes_.size()) - 1};
}

Variable Tape::Read(Parameter& parameter) {
  return Record(parameter.value,
                [&parameter](Tape&, const Matrix& gradient) { parameter.gradient += gradient; });
}

Variable Tape::Record(Matrix value, std::function<void(Tape&, const Matrix&)> backward) {
  nodes_.push_back({std::move(value), Matrix(), std::move(backward)});
  return {static_cast<int>(nodes_.size()) - 1};
}

Matrix Tape::gradient(Variable variable) const {
  const Node& node = nodes_[variable.index];
  if (node.gradient.size() > 0) return node.gradient;
  return Matrix::Zero(node.value.rows(), node.value.cols());
}

void Tape::AddGradient(Variable variable, const Matrix& gradient) {
  Node& node = nodes_[variable.index];
  CHECK(gradient.rows() == node.value.rows() && gradient.cols() == node.value.cols());
  if (node.gradient.size() == 0) {
    node.gradient = gradient;
  } else {
    node.gradient += gradient;
  }
}

void Tape::Backward(Variable result) {
  CHECK(value(result).size() == 1);
  AddGradient(result, Matrix::Ones(1, 1));
  for (int index = result.index; index >= 0; --index) {
    const Node& node = nodes_[index];
    if (node.backward && node.gradient.size() > 0) node.backward(*this, node.gradient);
  }
}

}  // namespace stagecraft
