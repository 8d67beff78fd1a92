// KernelFamily: kernels whose times follow the same structure. A family says which time the
// structure gives for an op on a device (tiles over multiprocessors, bytes over bandwidths) and
// which further features a model may use. Everything comes from the Op and the row of the Device.
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
  double value;                     // before any fit
  bool is_fitted = true;            // otherwise it keeps its value
  double sigma = 0.5;               // of its logarithm among GPU types, as a guess
  double calibration = 0;           // how far a site's own samples may move its logarithm
  bool follows_generation = false;  // near generations tell more of it than far ones
};

// How the corrections of a family's structured time are learned, and how far they are trusted.
struct Learning {
  BoostingOptions boosting = {.rounds = 0};  // no rounds: the structure alone
  bool has_own_constants = false;            // GPU types with samples get constants of their own
  double unknown_share = 0;                  // of a correction that an unmeasured GPU type gets
  double correction_low = -2;                // bounds of a correction, of a logarithm
  double correction_high = 2;
  bool grows = false;  // enforced: a size eight times as large never costs less
  // Sigma of a logarithm that each doubling of a size above all samples adds, or halving below.
  double spread_of_doubling = 0.05;
};

// Returns a hash that is equal for ops of one shape, whatever their number of rows.
uint64_t ShapeOf(const Op& op);

class KernelFamily {
 public:
  virtual ~KernelFamily() = default;

  virtual const char* name() const = 0;
  // Whether ops of this kind, number format, direction and use belong to the family on this device,
  // which is a host's CPU if IsForHosts().
  virtual bool Covers(const Op& op, const Device& device) const = 0;
  // Whether its devices are the CPUs of hosts; the devices of all other families are GPUs.
  virtual bool IsForHosts() const { return false; }
  virtual std::span<const Constant> constants() const = 0;
  virtual int feature_count() const = 0;
  virtual std::span<const char* const> feature_names() const = 0;

  // Returns the seconds that the structure gives, which are positive and finite. Fills `features`
  // with finite numbers; it is empty if only the time is wanted.
  virtual double Describe(const Op& op, const Device& device, std::span<const double> constants,
                          std::span<float> features) const = 0;

  virtual Learning learning() const { return {}; }
  // Returns a lower bound, in seconds, of the structured times of the op and of all larger ops of
  // the family. It is cheap to compute, and may be 0.
  virtual double LeastTime(const Op&, const Device&, std::span<const double>) const { return 0; }
  // Whether the op is priced like its nearest relative, because no sample is like the op itself.
  virtual bool IsDerived(const Op&) const { return false; }
  // The share of a correction that is applied to the op.
  virtual double Belief(const Op& op) const { return IsDerived(op) ? 0.5 : 1; }
  // The weight of a sample when trees are fitted.
  virtual double Weight(const Op&) const { return 1; }
};

// The constants of the family before any fit.
inline std::vector<double> StartOf(const KernelFamily& family) {
  std::vector<double> constants;
  for (const Constant& constant : family.constants()) constants.push_back(constant.value);
  return constants;
}

}  // namespace stagecraft
