// CostModel: predicts how long operations take on a device.
#pragma once

#include <span>
#include <vector>

#include "costmodel/collective_method.h"
#include "costmodel/device.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// What an estimate rests on. It is shown to users and never replaced silently. kCalibrated: a
// site's own samples of the same family of ops moved what was fitted; ops that are derived from
// others stay kExtrapolated.
enum class Basis { kMeasured, kInterpolated, kLearned, kCalibrated, kExtrapolated, kAnalytical };
inline constexpr int kBasisCount = 6;
const char* Name(Basis basis);

// Half of the central 80 % interval of a normal distribution, in sigmas.
inline constexpr double kSigmas80 = 1.2816;

struct Estimate {
  Duration time;  // on the device
  Basis basis = Basis::kAnalytical;
  double spread = 0;  // sigma of log(time)
  // The time that the host needs to launch the kernels of the op, one after another. If the host
  // does not run ahead of the device, the device waits for it.
  Duration host = {};
  CollectiveMethod method = {};  // of collectives only
  // How much of its speed, as a share in [0, 1), compute on the same device loses while this op
  // runs (compute_slowdown.h). It is zero for all ops but collectives.
  double slowdown = 0;
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

// Implementations are immutable: Predict() may be called from any thread.
class CostModel {
 public:
  virtual ~CostModel() = default;

  // Returns one estimate per op, in order. Pass all distinct ops in one call:
  // learned models cost far less per op in batches.
  virtual std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const = 0;
};

}  // namespace stagecraft
