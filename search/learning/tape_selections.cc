// Implements the operations of tape_operations.h that move entries or add them up.
#include <algorithm>
#include <cmath>
#include <utility>

#include "costmodel/check.h"
#include "search/learning/tape_operations.h"

namespace stagecraft {

Variable GatherRows(Tape& tape, Variable a, const std::vector<int>& rows) {
  const Matrix& input = tape.value(a);
  Matrix value(rows.size(), input.cols());
  for (size_t row = 0; row < rows.size(); ++row) value.row(row) = input.row(rows[row]);
  return tape.Record(std::move(value), [a, rows](Tape& on, const Matrix& gradient) {
    Matrix back = Matrix::Zero(on.value(a).rows(), on.value(a).cols());
    for (size_t row = 0; row < rows.size(); ++row) back.row(rows[row]) += gradient.row(row);
    on.AddGradient(a, back);
  });
}

Variable PickColumns(Tape& tape, Variable a, const std::vector<int>& columns) {
  const Matrix& input = tape.value(a);
  CHECK(static_cast<Eigen::Index>(columns.size()) == input.rows());
  Matrix value(input.rows(), 1);
  for (size_t row = 0; row < columns.size(); ++row) value(row, 0) = input(row, columns[row]);
  return tape.Record(std::move(value), [a, columns](Tape& on, const Matrix& gradient) {
    Matrix back = Matrix::Zero(on.value(a).rows(), on.value(a).cols());
    for (size_t row = 0; row < columns.size(); ++row) back(row, columns[row]) = gradient(row, 0);
    on.AddGradient(a, back);
  });
}

Variable Columns(Tape& tape, Variable a, int first, int count) {
  return tape.Record(tape.value(a).middleCols(first, count),
                     [a, first, count](Tape& on, const Matrix& gradient) {
                       Matrix back = Matrix::Zero(on.value(a).rows(), on.value(a).cols());
                       back.middleCols(first, count) = gradient;
                       on.AddGradient(a, back);
                     });
}

Variable JoinColumns(Tape& tape, const std::vector<Variable>& parts) {
  Eigen::Index columns = 0;
  for (const Variable part : parts) columns += tape.value(part).cols();
  Matrix value(tape.value(parts.front()).rows(), columns);
  Eigen::Index first = 0;
  for (const Variable part : parts) {
    const Matrix& input = tape.value(part);
    CHECK(input.rows() == value.rows());
    value.middleCols(first, input.cols()) = input;
    first += input.cols();
  }
  return tape.Record(std::move(value), [parts](Tape& on, const Matrix& gradient) {
    Eigen::Index begin = 0;
    for (const Variable part : parts) {
      const Eigen::Index count = on.value(part).cols();
      on.AddGradient(part, gradient.middleCols(begin, count));
      begin += count;
    }
  });
}

Variable JoinRows(Tape& tape, const std::vector<Variable>& parts) {
  Eigen::Index rows = 0;
  for (const Variable part : parts) rows += tape.value(part).rows();
  Matrix value(rows, tape.value(parts.front()).cols());
  Eigen::Index first = 0;
  for (const Variable part : parts) {
    const Matrix& input = tape.value(part);
    CHECK(input.cols() == value.cols());
    value.middleRows(first, input.rows()) = input;
    first += input.rows();
  }
  return tape.Record(std::move(value), [parts](Tape& on, const Matrix& gradient) {
    Eigen::Index begin = 0;
    for (const Variable part : parts) {
      const Eigen::Index count = on.value(part).rows();
      on.AddGradient(part, gradient.middleRows(begin, count));
      begin += count;
    }
  });
}

Variable Reshape(Tape& tape, Variable a, int rows, int columns) {
  CHECK(rows * columns == tape.value(a).size());
  return tape.Record(tape.value(a).reshaped(rows, columns), [a](Tape& on, const Matrix& gradient) {
    const Matrix& input = on.value(a);
    on.AddGradient(a, gradient.reshaped(input.rows(), input.cols()));
  });
}

Variable Sum(Tape& tape, Variable a) {
  return tape.Record(
      Matrix::Constant(1, 1, tape.value(a).sum()), [a](Tape& on, const Matrix& gradient) {
        const Matrix& input = on.value(a);
        on.AddGradient(a, Matrix::Constant(input.rows(), input.cols(), gradient(0, 0)));
      });
}

Variable Mean(Tape& tape, Variable a) {
  return Scale(tape, Sum(tape, a), 1.0 / static_cast<double>(tape.value(a).size()));
}

Variable SmoothMaximum(Tape& tape, Variable a, double temperature) {
  const Matrix& input = tape.value(a);
  const double most = input.maxCoeff();
  Matrix weights = ((input.array() - most) / temperature).matrix().unaryExpr([](double x) {
    return std::exp(x);
  });
  const double sum = weights.sum();
  weights /= sum;
  return tape.Record(Matrix::Constant(1, 1, most + temperature * std::log(sum)),
                     [a, weights](Tape& on, const Matrix& gradient) {
                       on.AddGradient(a, weights * gradient(0, 0));
                     });
}

}  // namespace stagecraft
