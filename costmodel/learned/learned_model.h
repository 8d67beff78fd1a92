// LearnedModel: predicts the times of kernels and collectives from measurements.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/cost_model.h"
#include "costmodel/learned/call_overhead.h"
#include "costmodel/learned/family_model.h"
#include "costmodel/learned/lazy_family.h"
#include "costmodel/learned/measured_times.h"
#include "costmodel/learned/sample.h"
#include "costmodel/network/network_model.h"
#include "costmodel/site_factors.h"

namespace stagecraft {

struct CalibratedModel;

// Immutable; Predict() may be called from any thread.
class LearnedModel : public CostModel {
 public:
  // Fits every family to its samples. GPU types that the catalogue does not have are left out.
  // Deterministic at any thread count. `report`, if given, is called with what is being fitted.
  using Report = std::function<void(const std::string&)>;
  static LearnedModel Fit(std::span<const Sample> samples, const Report& report = {});

  // Returns a copy that is calibrated on a site's samples, a few for each family. Throws InputError
  // if they are of more than one GPU type.
  CalibratedModel Calibrated(std::span<const Sample> samples) const;

  // Returns a copy that knows the measured times of these samples, which no family then changes:
  // for an op that equals one of them on the same device, Predict() returns the measured time with
  // Basis::kMeasured. Samples of whole calls, and of GPU types that are not known, are left out. If
  // the others are more than MeasuredTimes::kMost, none of them is added; if all ops together are
  // more than that, none is kept.
  LearnedModel WithMeasured(std::span<const Sample> samples) const;
  // Returns a copy without measured times, whose estimates come from the families alone. This copy
  // is the one that experiments judge.
  LearnedModel WithoutMeasured() const;
  size_t measured_ops() const { return measured_.size(); }

  // The basis is kCalibrated for GPU types of which a site's samples of the family are known,
  // kLearned for others with samples, and kExtrapolated for GPU types without, for ops that are
  // derived from their nearest relative (docs/cost-model.md says how) and for ops with a size at
  // least twice as large, or half as large, as in any sample.
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override;

  // Returns a copy with another model of collectives, such as a site's own.
  LearnedModel WithNetwork(const NetworkModel& network) const;

  // Returns a copy whose estimates are those of a site, in place of other factors that it had.
  LearnedModel AtSite(const SiteFactors& site) const;
  const SiteFactors& site() const { return site_; }

  // The overhead of sources that time whole calls.
  const CallOverhead& overhead() const { return overhead_; }

  // Throws an InputError that begins with `name`.
  static LearnedModel FromProto(const CostModelProto& proto, const std::string& name);
  CostModelProto ToProto() const;
  // Read() returns the model of a file that `fit` wrote, and Shipped() the one in the binary, of
  // which each family is read when an op first needs it.
  static LearnedModel Read(const std::string& path);
  static const LearnedModel& Shipped();

 private:
  LearnedModel();
  const FamilyModel* ModelOf(const Op& op, const Device& device) const;
  std::vector<Estimate> PredictAnywhere(std::span<const Op> ops, const Device& device) const;
  std::vector<Estimate> PredictUnmeasured(std::span<const Op> ops, const Device& device) const;

  // Adds what a message holds besides families.
  void TakeRest(const CostModelProto& proto, const std::string& name);

  // In the order of KernelFamilies(); copies of a model share them.
  std::vector<std::shared_ptr<const LazyFamily>> families_;
  CallOverhead overhead_;
  MeasuredTimes measured_;
  AnalyticalModel analytical_;
  NetworkModel network_;
  SiteFactors site_;
};

struct CalibratedModel {
  LearnedModel model;
  std::vector<std::string> changes;  // for people, a line per family
  int rows = 0;                      // from which it learned
};

}  // namespace stagecraft
