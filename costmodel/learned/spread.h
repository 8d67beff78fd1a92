// Spread: how sure a family's predictions are.
//
// On boards with samples, trees say how large |log(measured / predicted)| is by an
// op's features, and a factor makes intervals hold four rows of five. On a board
// unlike all of them one width serves all ops. Between the two they blend.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/boosted_trees.h"
#include "proto/cost_model.pb.h"

namespace stagecraft {

class Spread {
 public:
  Spread() = default;  // nothing was ever measured: wide

  // From what a model was off on rows it had not seen: `residuals` are absolute,
  // one for each row of `columns` features.
  void LearnKnown(std::span<const float> features, int columns, std::span<const double> residuals);
  // From what a model was off on boards it had not seen.
  void LearnUnknown(std::vector<double> residuals);

  // Sigmas of the logarithm of seconds, one for each row, 3.9 at most. `nearness` as in
  // BoardSetting.
  std::vector<double> Of(std::span<const float> features, size_t rows, double nearness) const;

  // Throws InputError, `name` first.
  static Spread FromProto(const FamilyModelProto& proto, const std::string& name);
  void AddTo(FamilyModelProto& proto) const;
  const BoostedTrees& trees() const { return trees_; }

 private:
  BoostedTrees trees_;       // of log |residual|, less its mean
  double known_factor_ = 0;  // half of an 80 % interval over what the trees say
  double unknown_half_ = 0.5;
};

}  // namespace stagecraft
