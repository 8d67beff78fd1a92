// LearnedModel: times of kernels and collectives from what was measured.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/cost_model.h"
#include "costmodel/learned/call_overhead.h"
#include "costmodel/learned/family_model.h"
#include "costmodel/learned/measured_times.h"
#include "costmodel/learned/sample.h"
#include "costmodel/network/network_model.h"

namespace stagecraft {

struct CalibratedModel;

// Immutable; Predict() may be called from any thread.
class LearnedModel : public CostModel {
 public:
  // Every family from its samples. Boards that the catalogue does not have are
  // left out. Deterministic at any thread count. `report`, if any, is told what
  // is being fitted.
  using Report = std::function<void(const std::string&)>;
  static LearnedModel Fit(std::span<const Sample> samples, const Report& report = {});

  // With a site's samples, a few per family. Throws InputError where they are of
  // more than one board.
  CalibratedModel Calibrated(std::span<const Sample> samples) const;

  // What ops took by these samples, which no family then changes: Predict() answers an op of the
  // same device that equals one with it, at Basis::kMeasured. Samples of whole calls, and of GPU
  // types that are not known, are left out. Where the others are more than MeasuredTimes::kMost,
  // none of them is added; where there are more ops than that after all, none is kept.
  LearnedModel WithMeasured(std::span<const Sample> samples) const;
  // What the families say alone, which is to be judged.
  LearnedModel WithoutMeasured() const;
  size_t measured_ops() const { return measured_.size(); }

  // Basis::kLearned on a board with samples of the family, kExtrapolated on others
  // and where the op is derived from its nearest relative (README.md says how).
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override;

  // With another model of collectives: a site's own.
  LearnedModel WithNetwork(const NetworkModel& network) const;

  // What sources that time call by call add.
  const CallOverhead& overhead() const { return overhead_; }

  // Throws InputError, `name` first.
  static LearnedModel FromProto(const CostModelProto& proto, const std::string& name);
  CostModelProto ToProto() const;
  // A file that `fit` wrote; and the one in the binary, read at the first call.
  static LearnedModel Read(const std::string& path);
  static const LearnedModel& Shipped();

 private:
  LearnedModel();
  const FamilyModel* ModelOf(const Op& op, const Device& device) const;
  std::vector<Estimate> PredictUnmeasured(std::span<const Op> ops, const Device& device) const;

  std::vector<FamilyModel> families_;  // as KernelFamilies()
  // Serving kernels of boards where no common one was measured; by family.
  std::vector<FamilyModel> serving_;
  CallOverhead overhead_;
  MeasuredTimes measured_;
  AnalyticalModel analytical_;
  NetworkModel network_;
};

struct CalibratedModel {
  LearnedModel model;
  std::vector<std::string> changes;  // for people, a line per family
  int rows = 0;                      // that it learned from
};

}  // namespace stagecraft
