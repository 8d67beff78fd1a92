#include "search/learning/layers.h"

#include <fmt/core.h>

#include <cmath>
#include <sstream>
#include <utility>

#include "costmodel/check.h"
#include "search/learning/tape_operations.h"

namespace stagecraft {

Parameter& ParameterSet::Add(const std::string& name, Matrix value) {
  parameters_.push_back({name, std::make_unique<Parameter>(std::move(value))});
  return *parameters_.back().parameter;
}

Parameter& ParameterSet::AddDrawn(const std::string& name, int rows, int columns, Random& random) {
  const double most = std::sqrt(6.0 / (rows + columns));
  Matrix value(rows, columns);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      value(row, column) = most * (2 * random.Uniform() - 1);
    }
  }
  return Add(name, std::move(value));
}

Parameter& ParameterSet::AddConstant(const std::string& name, int rows, int columns, double value) {
  return Add(name, Matrix::Constant(rows, columns, value));
}

std::vector<Parameter*> ParameterSet::all() {
  std::vector<Parameter*> all;
  for (const Named& named : parameters_) all.push_back(named.parameter.get());
  return all;
}

std::string ParameterSet::Write() const {
  std::string text;
  for (const Named& named : parameters_) {
    const Matrix& value = named.parameter->value;
    text += fmt::format("{} {} {}\n", named.name, value.rows(), value.cols());
    for (Eigen::Index row = 0; row < value.rows(); ++row) {
      for (Eigen::Index column = 0; column < value.cols(); ++column) {
        text += fmt::format("{}{}", column > 0 ? " " : "", value(row, column));
      }
      text += "\n";
    }
  }
  return text;
}

void ParameterSet::Read(const std::string& text, const std::string& source) {
  std::istringstream stream(text);
  for (const Named& named : parameters_) {
    Matrix& value = named.parameter->value;
    const std::string wanted = fmt::format("{} {} {}", named.name, value.rows(), value.cols());
    std::string header;
    if (!std::getline(stream, header) || header != wanted) {
      throw InputError(fmt::format("{}: got \"{}\", want \"{}\"", source, header, wanted));
    }
    for (Eigen::Index entry = 0; entry < value.size(); ++entry) {
      double& number = value(entry / value.cols(), entry % value.cols());
      if (!(stream >> number) || !std::isfinite(number)) {
        throw InputError(fmt::format("{}: {}: entry {} is not a finite number, want a whole file",
                                     source, named.name, entry));
      }
    }
    std::getline(stream, header);  // the rest of the last row
  }
  std::string more;
  if (stream >> more) {
    throw InputError(
        fmt::format("{}: got \"{}\" after the last matrix, want the end", source, more));
  }
}

LinearLayer::LinearLayer(ParameterSet& parameters, const std::string& name, int inputs, int outputs,
                         Random& random)
    : weights_(&parameters.AddDrawn(name + ".weights", inputs, outputs, random)),
      bias_(&parameters.AddConstant(name + ".bias", 1, outputs, 0)) {}

Variable LinearLayer::Apply(Tape& tape, Variable input) const {
  return AddRow(tape, MatMul(tape, input, tape.Read(*weights_)), tape.Read(*bias_));
}

LstmCell::LstmCell(ParameterSet& parameters, const std::string& name, int inputs, int width,
                   Random& random)
    : width_(width),
      gates_(parameters, name + ".gates", inputs + width, 4 * width, random),
      forget_bias_(&parameters.AddConstant(name + ".forget_bias", 1, width, 1)) {}

LstmCell::State LstmCell::Start(Tape& tape, int rows) const {
  return {tape.Constant(Matrix::Zero(rows, width_)), tape.Constant(Matrix::Zero(rows, width_))};
}

LstmCell::State LstmCell::Apply(Tape& tape, Variable input, const State& before) const {
  const Variable gates = gates_.Apply(tape, JoinColumns(tape, {input, before.hidden}));
  const Variable enter = Sigmoid(tape, Columns(tape, gates, 0, width_));
  const Variable keep =
      Sigmoid(tape, AddRow(tape, Columns(tape, gates, width_, width_), tape.Read(*forget_bias_)));
  const Variable leave = Sigmoid(tape, Columns(tape, gates, 2 * width_, width_));
  const Variable candidate = Tanh(tape, Columns(tape, gates, 3 * width_, width_));
  const Variable memory =
      Add(tape, Multiply(tape, keep, before.memory), Multiply(tape, enter, candidate));
  return {Multiply(tape, leave, Tanh(tape, memory)), memory};
}

}  // namespace stagecraft
