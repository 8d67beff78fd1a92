// Spread: how certain a family's predictions are.
//
// On GPU types with samples, trees say how large |log(measured / predicted)| is by the features of
// an op, and a factor makes intervals hold for four rows of five. On a GPU type unlike all of them
// intervals are wider by another factor, and between the two they blend.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/boosted_trees.h"
#include "proto/cost_model.pb.h"

namespace stagecraft {

class Spread {
 public:
  Spread() = default;  // wide: nothing was measured

  // Learns from the errors of a model on rows that it had not seen: `residuals` are absolute, one
  // for each row of `columns` features.
  void LearnKnown(std::span<const float> features, int columns, std::span<const double> residuals);
  // Learns from the errors of a model on GPU types that it had not seen, in the same form.
  // Precondition: LearnKnown() was called.
  void LearnUnknown(std::span<const float> features, std::span<const double> residuals);

  // Returns sigmas of the logarithm of seconds, one for each row, at most 3.9. `nearness` is that
  // of GpuSetting.
  std::vector<double> Of(std::span<const float> features, size_t rows, double nearness) const;

  // `trees` are those of the field spread_trees. Throws an InputError that begins with `name`.
  static Spread FromProto(const FamilyModelProto& proto, BoostedTrees trees,
                          const std::string& name);
  void AddTo(FamilyModelProto& proto) const;
  const BoostedTrees& trees() const { return trees_; }

 private:
  BoostedTrees trees_;       // of log |residual|, less its mean
  double known_factor_ = 0;  // half of an 80 % interval over what the trees say
  // With samples of a single GPU type nothing shows how much these differ: it is that of families
  // with several.
  double unknown_factor_ = 5;
};

}  // namespace stagecraft
