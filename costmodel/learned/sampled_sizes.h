// SampledSizes: how large the ops were from which a family learned, and how far others are from
// them.
#pragma once

#include <array>
#include <limits>
#include <string>

#include "costmodel/op.h"
#include "proto/cost_model.pb.h"

namespace stagecraft {

class SampledSizes {
 public:
  SampledSizes() = default;  // without samples nothing is beyond them

  void Add(const Op& op);
  // Returns by how many doublings one of the op's sizes (batch, m, n, k, bytes) is outside of the
  // sampled ones, at most. A size that was the same in all samples does not count.
  double DoublingsBeyond(const Op& op) const;

  // Throws an InputError that begins with `name`.
  static SampledSizes FromProto(const FamilyModelProto& proto, const std::string& name);
  void AddTo(FamilyModelProto& proto) const;

 private:
  static constexpr int kSizes = 5;
  using Sizes = std::array<double, kSizes>;  // as log2
  static Sizes Of(const Op& op);
  static constexpr Sizes Filled(double value) { return {value, value, value, value, value}; }

  Sizes least_ = Filled(std::numeric_limits<double>::infinity());
  Sizes most_ = Filled(-std::numeric_limits<double>::infinity());
};

}  // namespace stagecraft
