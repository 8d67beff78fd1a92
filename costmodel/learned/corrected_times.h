// CorrectedTimes: the structured times of one family on one device, with the corrections that trees
// add to them, kept within plausible bounds.
#pragma once

#include <span>
#include <vector>

#include "costmodel/learned/boosted_trees.h"
#include "costmodel/learned/kernel_family.h"
#include "costmodel/learned/known_gpus.h"

namespace stagecraft {

// The features and structured times of some ops.
struct DescribedOps {
  // Adds an op: its features on the device at its boost clock, and its structured time.
  void Add(const KernelFamily& family, const Op& op, const Device& device,
           std::span<const double> constants);

  std::vector<float> features;      // at the boost clock, a row of features for each op
  std::vector<double> log_seconds;  // structured, at the clock that is predicted for
};

class CorrectedTimes {
 public:
  // All arguments must outlive this object. `measured` is the device at its boost clock, at which
  // corrections were learned, `running` the device at the clock that is predicted for. Empty trees
  // add nothing.
  CorrectedTimes(const KernelFamily& family, const BoostedTrees& trees, const Device& measured,
                 const Device& running, const GpuSetting& setting)
      : family_(family),
        learning_(family.learning()),
        trees_(trees),
        measured_(measured),
        running_(running),
        setting_(setting) {}

  DescribedOps Describe(std::span<const Op> ops) const;

  // Returns logarithms of seconds. If the family's times are to grow (Learning::grows), a size
  // eight times as large never costs less.
  std::vector<double> Of(std::span<const Op> ops, const DescribedOps& described) const;
  // The same without that guarantee and without its bound on large corrections.
  std::vector<double> Unguarded(std::span<const Op> ops, const DescribedOps& described) const;

 private:
  double LogStructured(const Op& op) const;
  // Whether nothing is added to structured times.
  bool IsPlain() const {
    return (trees_.empty() || setting_.share == 0) && setting_.residual.is_zero();
  }
  // The least that can be added to the logarithm of a structured time.
  double Lowest() const {
    return setting_.share * learning_.correction_low -
           (setting_.residual.is_zero() ? 0 : SmoothResidual::kMost);
  }
  std::vector<double> BoundedByTwice(std::span<const Op> ops, const DescribedOps& described) const;
  void TakeSmallest(std::span<const Op> ops, std::span<double> results) const;

  const KernelFamily& family_;
  const Learning learning_;
  const BoostedTrees& trees_;
  const Device& measured_;
  const Device& running_;
  const GpuSetting& setting_;
};

}  // namespace stagecraft
