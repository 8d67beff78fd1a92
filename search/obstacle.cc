#include "search/obstacle.h"

#include <fmt/core.h>

#include <algorithm>

#include "search/problem.h"

namespace stagecraft {
namespace {

double ShareOf(Bytes needed, Bytes capacity) {
  return static_cast<double>(needed.count()) / static_cast<double>(capacity.count());
}

// Returns the share of the device's memory or of the host's that a stage needs, whichever is
// greater.
double FullestShare(const StageMemory& stage) {
  const double host =
      stage.host > Bytes() ? ShareOf(stage.host, std::max(stage.host_capacity, Bytes(1))) : 0;
  return std::max(MemoryShare({&stage, 1}), host);
}

const StageMemory& FullestStage(const Evaluation& evaluation) {
  return *std::max_element(
      evaluation.memory.begin(), evaluation.memory.end(),
      [](const StageMemory& a, const StageMemory& b) { return FullestShare(a) < FullestShare(b); });
}

}  // namespace

void Obstacle::NoteStates(const MemoryNeed& need, const PlanSpace& space, size_t index) {
  if (!Take(need.Share())) return;
  text_ = fmt::format("at least {:.1f} GiB per device at {}, but only {:.1f} GiB are available",
                      need.needed.gib(), space.Describe(index), need.capacity.gib());
}

bool Obstacle::IsNearer(const Evaluation& evaluation) const {
  return FullestShare(FullestStage(evaluation)) < least_share_;
}

void Obstacle::NoteStage(const Evaluation& evaluation, const std::string& choices) {
  const StageMemory& fullest = FullestStage(evaluation);
  if (!Take(FullestShare(fullest))) return;
  const bool is_host = FullestShare(fullest) > MemoryShare({&fullest, 1});
  text_ = fmt::format("stage {} needs {:.1f} GiB{} at {}, but only {:.1f} GiB are available",
                      fullest.stage, (is_host ? fullest.host : fullest.Peak()).gib(),
                      is_host ? " of host memory" : "", choices,
                      (is_host ? fullest.host_capacity : fullest.capacity).gib());
}

bool Obstacle::Take(double share) {
  if (share >= least_share_) return false;
  least_share_ = share;
  return true;
}

}  // namespace stagecraft
