// KnownGpus: the GPU types that have samples of a family, and what any other GPU type takes from
// them.
//
// A GPU type with samples has constants of its own and is corrected in full. One without lies
// somewhere between those that have samples: the nearer it is to one of them, by the numbers of its
// row, the more it takes of that type's constants and correction; far from all it has their mean,
// and the share of a correction that its family trusts. So estimates change steadily from GPU types
// that were measured to those that were not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/learned/fit_constants.h"
#include "costmodel/learned/kernel_family.h"
#include "costmodel/learned/smooth_residual.h"

namespace stagecraft {

// The most that a relative makes a GPU type as certain as its own samples do.
inline constexpr double kMostNearness = 0.7;

struct KnownGpu {
  Device device;                  // at the boost clock, at which samples are taken
  std::vector<double> constants;  // as many as the family has
  double share = 1;               // of the trees' correction that is applied here
  double offset = 0;              // of the logarithm of seconds
  double nearness = 1;            // less than 1 if it has only a few samples of a site
  SmoothResidual residual = {};   // of a site's samples
  double widening = 1;            // of the spread, as a site's samples show it
  bool is_calibrated = false;     // a site's samples moved what was fitted
};

// The constants, share and offset with which a device is predicted.
struct GpuSetting {
  std::vector<double> constants;
  double share = 0;
  double offset = 0;
  double nearness = 0;       // to a GPU type with a table of samples; 1: it has one itself
  bool is_measured = false;  // it has samples, however few
  SmoothResidual residual = {};
  double widening = 1;  // of the spread
  bool is_calibrated = false;
};

class KnownGpus {
 public:
  // Knows no GPU type. The family must outlive this object.
  explicit KnownGpus(const KernelFamily& family) : family_(&family) {}
  // Knows all GPU types of the rows.
  KnownGpus(const KernelFamily& family, std::span<const FitRow> rows);

  // Returns the setting of a device, which must be given at its boost clock.
  GpuSetting SettingOf(const Device& device) const;
  // Whether there are samples of this very GPU type, whatever its training clock.
  bool Has(const Device& device) const;

  std::span<const KnownGpu> gpus() const { return gpus_; }
  // Returns a copy that does not know one GPU type.
  KnownGpus Without(const std::string& id) const;
  // Adds a GPU type, or replaces what is known about the same one.
  void Put(KnownGpu gpu);

 private:
  GpuSetting Blend(const Device& device) const;

  const KernelFamily* family_;
  std::vector<KnownGpu> gpus_;
};

// Returns the device with everything that its clock drives slowed down to its share of the clock.
Device AtClockShare(Device device);

}  // namespace stagecraft
