// MarksOf(): what happened in a training run at moments, in words, for a page that marks it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/training/trained_states.h"
#include "sim/cluster/cluster.h"
#include "sim/job/cluster_event.h"
#include "sim/job/history.h"

namespace stagecraft {

struct RunMark {
  // What matters most comes first.
  enum class Kind {
    kFailure,      // A part fails, or the run is interrupted.
    kGoesOn,       // Steps are computed again after an interruption.
    kSlower,       // A part slows down, or steps run without parts or with slow ones.
    kReturn,       // A part recovers, joins or leaves.
    kNetwork,      // The network changes.
    kRebalancing,  // The run stops to move to another plan, or to decide about it.
    kCheckpoint,   // A checkpoint is begun.
  };
  Duration at;  // since the start of the run
  Kind kind = Kind::kFailure;
  std::string text;
};
inline constexpr int kRunMarkKinds = 7;
// Returns "failure" or the like.
const char* Name(RunMark::Kind kind);

struct RunMarks {
  std::vector<RunMark> marks;          // in order of time
  int64_t checkpoints_not_marked = 0;  // all of them, if there are too many to be told apart
};

// Returns when the run first completed this many steps, above 0, to within a step; no value if it
// never did.
std::optional<Duration> WhenCompleted(const History& history, int64_t steps);

// Finds interruptions, changes of the network, checkpoints and the like in the phases of a history,
// and adds the events of a file (JobEventsProto) that happen before its end. Events that are drawn
// are known only by the phases that they cause. `states` are those of the network.
RunMarks MarksOf(const History& history, const std::vector<TrainedState>& states,
                 const std::vector<ClusterEvent>& events, const Cluster& cluster);

}  // namespace stagecraft
