// Formula: what measured times of one collective over one group are compared with: NCCL's own model
// (collective_model.h) plus part of a step for rings inside a node.
#pragma once

#include <optional>

#include "costmodel/collective_model.h"
#include "costmodel/device.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

class Formula {
 public:
  // The op's bytes do not count. With `forced` only that algorithm is chosen.
  Formula(const Op& op, const Device& device, std::optional<Algorithm> forced);

  CollectiveChoice ChoiceAt(Bytes bytes) const;
  // Returns the time of the choice, to which rings inside a node add part of a step: the bytes of
  // the last step have arrived but are yet to be reduced or copied.
  double SecondsOf(const CollectiveChoice& choice) const;
  // Returns the regime (time_curve.h) in which the formula's time is this.
  double RegimeAt(double seconds) const;

 private:
  Op op_;
  Device device_;
  std::optional<Algorithm> forced_;
  double least_seconds_;  // of no bytes
};

}  // namespace stagecraft
