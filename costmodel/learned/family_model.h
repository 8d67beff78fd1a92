// FamilyModel: what samples taught about one family of kernels.
//
//   log time = log structured time + share x correction + offset
//
// The constants, share and offset of a GPU type: known_gpus.h. The bounds that keep times
// plausible: corrected_times.h. How certain the times are: spread.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/boosted_trees.h"
#include "costmodel/learned/corrected_times.h"
#include "costmodel/learned/fit_constants.h"
#include "costmodel/learned/kernel_family.h"
#include "costmodel/learned/known_gpus.h"
#include "costmodel/learned/sampled_sizes.h"
#include "costmodel/learned/spread.h"
#include "proto/cost_model.pb.h"

namespace stagecraft {

// The natural logarithm of seconds, and how certain it is.
struct LogTime {
  double log_seconds = 0;
  double spread = 0;           // sigma of log_seconds
  bool is_measured = false;    // the GPU type has samples of the family
  bool is_calibrated = false;  // a site's samples moved it
  bool is_far = false;         // from the sizes of all samples
};

struct CalibratedFamily;

class FamilyModel {
 public:
  // Learns from all rows. GPU types with fewer than 200 rows teach nothing about others: they are
  // calibrated at the end, like the GPU type of a site. Deterministic. The family must outlive the
  // model.
  static FamilyModel Fit(const KernelFamily& family, std::span<const FitRow> rows);
  // A model without any samples has the family's own constants and a wide spread.
  explicit FamilyModel(const KernelFamily& family) : family_(&family), known_(family) {}

  // Returns a copy that also knows a few rows of a site, all of one GPU type (calibration.h), and
  // that says so.
  // Throws InputError if they are so far from what is predicted that no file could hold the result
  // (gpu_range.h).
  CalibratedFamily Calibrated(std::span<const FitRow> rows) const;

  // Returns one prediction for each op, all of which belong to the family; none is below 0.98 of
  // the roofline.
  std::vector<LogTime> Predict(std::span<const Op> ops, const Device& device) const;

  const KernelFamily& family() const { return *family_; }
  bool has_samples() const { return !known_.gpus().empty(); }
  // Whether there are samples of this very GPU type.
  bool Knows(const Device& device) const { return known_.Has(device); }

  // Throws an InputError that begins with `name`.
  static FamilyModel FromProto(const FamilyModelProto& proto, const std::string& name);
  // The same for trees that were read already; those in `proto` are not looked at.
  static FamilyModel FromParts(const FamilyModelProto& proto, BoostedTrees trees,
                               BoostedTrees spread_trees, const std::string& name);
  FamilyModelProto ToProto() const;

 private:
  void Learn(std::span<const FitRow> rows);
  CalibratedFamily Moved(std::span<const FitRow> rows, bool is_calibrated) const;
  void FitTrees(std::span<const FitRow> rows, const BoostingOptions& options);
  void FitSpread(std::span<const FitRow> rows);
  // |log(predicted / measured)|, one for each row.
  std::vector<double> Errors(std::span<const FitRow> rows) const;
  DescribedOps Describe(std::span<const FitRow> rows) const;
  // Returns how much wider the spread must be for rows of one GPU type.
  double WideningBy(std::span<const FitRow> rows) const;

  const KernelFamily* family_;
  KnownGpus known_;
  BoostedTrees trees_;  // of log(measured / structured)
  Spread spread_;
  SampledSizes sizes_;
};

struct CalibratedFamily {
  FamilyModel model;
  std::string changes;  // for people
};

}  // namespace stagecraft
