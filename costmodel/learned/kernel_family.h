// KernelFamily: kernels that cost alike. A family says what their structure makes
// of an op on a device (tiles over multiprocessors, bytes over bandwidths) and
// what else a model may look at. Everything comes from the Op and the Device row.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/learned/boosting_options.h"
#include "costmodel/op.h"

namespace stagecraft {

// A constant of a structured time, fitted in its logarithm.
struct Constant {
  const char* name;
  double value;            // before any fit
  bool is_fitted = true;   // otherwise as it stands
  double sigma = 0.5;      // of its logarithm among boards, as far as we guess
  double calibration = 0;  // how far a site's own samples may move its logarithm
};

// How the corrections of a family's structured time are learned and believed.
struct Learning {
  BoostingOptions boosting = {.rounds = 0};  // no rounds: the structure alone
  bool has_own_constants = false;            // boards with samples get constants of their own
  double unknown_share = 0;                  // of a correction that an unseen board gets
  double correction_low = -2;                // bounds of a correction, of a logarithm
  double correction_high = 2;
  bool grows = false;  // eight times a size never costs less: enforced
};

// What makes two ops one shape, whatever their row count: a hash.
uint64_t ShapeOf(const Op& op);

class KernelFamily {
 public:
  virtual ~KernelFamily() = default;

  virtual const char* name() const = 0;
  // Whether ops of this kind, number format, direction and use belong to it.
  virtual bool Covers(const Op& op) const = 0;
  // Its devices are processors of hosts; of no other family they are.
  virtual bool IsForHosts() const { return false; }
  virtual std::span<const Constant> constants() const = 0;
  virtual int feature_count() const = 0;
  virtual std::span<const char* const> feature_names() const = 0;

  // Seconds that the structure takes; positive and finite. Fills `features`,
  // finite numbers; empty where only the time is asked for.
  virtual double Describe(const Op& op, const Device& device, std::span<const double> constants,
                          std::span<float> features) const = 0;

  virtual Learning learning() const { return {}; }
  // Seconds that no larger op of the family takes less than; cheap, and may be 0.
  virtual double LeastTime(const Op&, const Device&, std::span<const double>) const { return 0; }
  // Costed as its nearest relative, since no sample is like it.
  virtual bool IsDerived(const Op&) const { return false; }
  // Share of a correction that holds for such an op.
  virtual double Belief(const Op& op) const { return IsDerived(op) ? 0.5 : 1; }
  // What a sample counts for when trees are fitted.
  virtual double Weight(const Op&) const { return 1; }
};

// The family's constants before any fit.
inline std::vector<double> StartOf(const KernelFamily& family) {
  std::vector<double> constants;
  for (const Constant& constant : family.constants()) constants.push_back(constant.value);
  return constants;
}

}  // namespace stagecraft
