#include "sim/job/history.h"

namespace stagecraft {

const char* Name(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::kComputing:
      return "computing";
    case PhaseKind::kCheckpoint:
      return "checkpoint";
    case PhaseKind::kDetection:
      return "detection";
    case PhaseKind::kWaiting:
      return "waiting";
    case PhaseKind::kRestart:
      return "restart";
    case PhaseKind::kReload:
      return "reload";
    case PhaseKind::kRedone:
      return "redone";
    case PhaseKind::kRebalancing:
      break;
  }
  return "rebalancing";
}

bool AreEqual(const RunPlan* one, const RunPlan* other) {
  return one == other || (one != nullptr && other != nullptr && *one == *other);
}

}  // namespace stagecraft
