#include "search/learning/adam.h"

#include <cmath>
#include <utility>

namespace stagecraft {

Adam::Adam(std::vector<Parameter*> parameters, const AdamOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  for (const Parameter* parameter : parameters_) {
    const Matrix zero = Matrix::Zero(parameter->value.rows(), parameter->value.cols());
    moments_.push_back({zero, zero});
  }
}

void Adam::Step() {
  ++steps_;
  double squares = 0;
  for (const Parameter* parameter : parameters_) squares += parameter->gradient.squaredNorm();
  const double length = std::sqrt(squares);
  const bool is_long = options_.longest_gradient > 0 && length > options_.longest_gradient;
  const double factor = is_long ? options_.longest_gradient / length : 1;
  const double first_share = 1 - std::pow(options_.first_decay, steps_);
  const double second_share = 1 - std::pow(options_.second_decay, steps_);
  for (size_t p = 0; p < parameters_.size(); ++p) {
    Parameter& parameter = *parameters_[p];
    auto& [first, second] = moments_[p];
    const Matrix gradient = parameter.gradient * factor;
    first = options_.first_decay * first + (1 - options_.first_decay) * gradient;
    second = options_.second_decay * second + (1 - options_.second_decay) * gradient.cwiseAbs2();
    parameter.value.array() -= options_.rate * (first.array() / first_share) /
                               ((second.array() / second_share).sqrt() + options_.epsilon);
    parameter.gradient.setZero();
  }
}

}  // namespace stagecraft
