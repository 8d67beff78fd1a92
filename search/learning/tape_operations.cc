#include "search/learning/tape_operations.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Returns a function of every entry, whose derivative follows from input and output.
template <typename Function, typename Derivative>
Variable Elementwise(Tape& tape, Variable a, Function function, Derivative derivative) {
  Matrix value = tape.value(a).unaryExpr(function);
  const Matrix slope = tape.value(a).binaryExpr(value, derivative);
  return tape.Record(std::move(value), [a, slope](Tape& on, const Matrix& gradient) {
    on.AddGradient(a, gradient.cwiseProduct(slope));
  });
}

bool HaveOneShape(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols();
}

// Returns, row by row, log(sum(exp)) over the allowed entries.
Eigen::VectorXd MaskedLogSumExp(const Matrix& a, const Mask& mask) {
  Eigen::VectorXd sums(a.rows());
  for (Eigen::Index row = 0; row < a.rows(); ++row) {
    double most = -HUGE_VAL;
    for (Eigen::Index column = 0; column < a.cols(); ++column) {
      if (mask(row, column) > 0) most = std::max(most, a(row, column));
    }
    CHECK(most > -HUGE_VAL);
    double sum = 0;
    for (Eigen::Index column = 0; column < a.cols(); ++column) {
      if (mask(row, column) > 0) sum += std::exp(a(row, column) - most);
    }
    sums(row) = most + std::log(sum);
  }
  return sums;
}

Matrix MaskedProbabilities(const Matrix& logarithms, const Mask& mask) {
  return (logarithms.unaryExpr([](double x) { return std::exp(x); }).array() * mask).matrix();
}

}  // namespace

Variable MatMul(Tape& tape, Variable a, Variable b) {
  CHECK(tape.value(a).cols() == tape.value(b).rows());
  return tape.Record(tape.value(a) * tape.value(b), [a, b](Tape& on, const Matrix& gradient) {
    on.AddGradient(a, gradient * on.value(b).transpose());
    on.AddGradient(b, on.value(a).transpose() * gradient);
  });
}

Variable Add(Tape& tape, Variable a, Variable b) {
  CHECK(HaveOneShape(tape.value(a), tape.value(b)));
  return tape.Record(tape.value(a) + tape.value(b), [a, b](Tape& on, const Matrix& gradient) {
    on.AddGradient(a, gradient);
    on.AddGradient(b, gradient);
  });
}

Variable Subtract(Tape& tape, Variable a, Variable b) { return Add(tape, a, Scale(tape, b, -1)); }

Variable Multiply(Tape& tape, Variable a, Variable b) {
  CHECK(HaveOneShape(tape.value(a), tape.value(b)));
  return tape.Record(tape.value(a).cwiseProduct(tape.value(b)),
                     [a, b](Tape& on, const Matrix& gradient) {
                       on.AddGradient(a, gradient.cwiseProduct(on.value(b)));
                       on.AddGradient(b, gradient.cwiseProduct(on.value(a)));
                     });
}

Variable Scale(Tape& tape, Variable a, double factor) {
  return tape.Record(tape.value(a) * factor, [a, factor](Tape& on, const Matrix& gradient) {
    on.AddGradient(a, gradient * factor);
  });
}

Variable AddRow(Tape& tape, Variable a, Variable row) {
  CHECK(tape.value(row).rows() == 1 && tape.value(row).cols() == tape.value(a).cols());
  return tape.Record(tape.value(a).rowwise() + tape.value(row).row(0),
                     [a, row](Tape& on, const Matrix& gradient) {
                       on.AddGradient(a, gradient);
                       on.AddGradient(row, gradient.colwise().sum());
                     });
}

Variable Minimum(Tape& tape, Variable a, Variable b) {
  CHECK(HaveOneShape(tape.value(a), tape.value(b)));
  const Matrix is_first = (tape.value(a).array() <= tape.value(b).array()).cast<double>().matrix();
  return tape.Record(tape.value(a).cwiseMin(tape.value(b)),
                     [a, b, is_first](Tape& on, const Matrix& gradient) {
                       const Matrix to_first = gradient.cwiseProduct(is_first);
                       on.AddGradient(a, to_first);
                       on.AddGradient(b, gradient - to_first);
                     });
}

Variable Relu(Tape& tape, Variable a) {
  return Elementwise(
      tape, a, [](double x) { return std::max(x, 0.0); },
      [](double x, double) { return x > 0 ? 1.0 : 0.0; });
}

Variable Tanh(Tape& tape, Variable a) {
  return Elementwise(
      tape, a, [](double x) { return std::tanh(x); }, [](double, double y) { return 1 - y * y; });
}

Variable Sigmoid(Tape& tape, Variable a) {
  return Elementwise(
      tape, a, [](double x) { return 1 / (1 + std::exp(-x)); },
      [](double, double y) { return y * (1 - y); });
}

Variable Exp(Tape& tape, Variable a) {
  return Elementwise(
      tape, a, [](double x) { return std::exp(x); }, [](double, double y) { return y; });
}

Variable Log(Tape& tape, Variable a) {
  return Elementwise(
      tape, a, [](double x) { return std::log(x); }, [](double x, double) { return 1 / x; });
}

Variable Clamp(Tape& tape, Variable a, double low, double high) {
  return Elementwise(
      tape, a, [low, high](double x) { return std::clamp(x, low, high); },
      [low, high](double x, double) { return x >= low && x <= high ? 1.0 : 0.0; });
}

Variable Softmax(Tape& tape, Variable a, const Mask& mask) {
  const Matrix& input = tape.value(a);
  const Matrix shares = MaskedProbabilities(input.colwise() - MaskedLogSumExp(input, mask), mask);
  return tape.Record(shares, [a, shares](Tape& on, const Matrix& gradient) {
    const Eigen::VectorXd means = gradient.cwiseProduct(shares).rowwise().sum();
    on.AddGradient(a, shares.cwiseProduct(gradient.colwise() - means));
  });
}

Variable LogSoftmax(Tape& tape, Variable a, const Mask& mask) {
  const Matrix& input = tape.value(a);
  const Matrix logarithms = input.colwise() - MaskedLogSumExp(input, mask);
  const Matrix shares = MaskedProbabilities(logarithms, mask);
  return tape.Record((logarithms.array() * mask).matrix(),
                     [a, shares, mask](Tape& on, const Matrix& gradient) {
                       const Matrix allowed = (gradient.array() * mask).matrix();
                       const Eigen::VectorXd sums = allowed.rowwise().sum();
                       on.AddGradient(a, allowed - sums.asDiagonal() * shares);
                     });
}

}  // namespace stagecraft
