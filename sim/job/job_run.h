// SimulateRun: a training run on a cluster that fails, event by event.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/job/checkpoint.h"
#include "sim/job/cluster_event.h"
#include "sim/job/cluster_health.h"
#include "sim/job/drawn_events.h"
#include "sim/job/history.h"

namespace stagecraft {

// What a run does after a failure. Everything but kShrink and kReplan needs all devices of the
// plan.
struct Recovery {
  enum class Policy {
    kRestart,  // waits until everything is repaired
    kSpare,    // nodes with failed devices are replaced by spare ones as long as there are any
    kShrink,   // goes on with what is left, as far as the step function allows it
    kReplan,   // goes on with another plan
  };
  Policy policy = Policy::kRestart;
  Duration detection = {};  // from a failure until the run notices it
  Duration restart = {};    // processes and communicators
  Duration reload = {};     // the last complete checkpoint, or a copy of it for devices that return
  int spare_nodes = 0;      // kSpare; like those of the cluster; do not fail while they wait
  Duration swap = {};       // kSpare: until spare nodes have taken their places, all at once
  // kShrink: whether the replicas that are left hold the whole state, so that only the step in
  // progress is lost.
  bool survivors_hold_state = false;
};

// A step on what is left of the cluster.
struct RunningStep {
  Duration time;    // > 0
  int devices = 0;  // that are at work
  friend bool operator==(const RunningStep&, const RunningStep&) = default;
};
struct Replanned {
  RunningStep step;
  Duration move;  // of weights and optimizer states to where the plan wants them
};
// The step of the plan in a state of the cluster; no value if the plan does not run there.
// `network` counts RunSpec::network_changes so far. Both functions are called once for each
// distinct pair of arguments, from any thread.
using StepFunction =
    std::function<std::optional<RunningStep>(const ClusterState& state, int network)>;
// Another plan for a state; no value: the plan of the step function stays.
using ReplanFunction =
    std::function<std::optional<Replanned>(const ClusterState& state, int network)>;

struct RunSpec {
  const Cluster* cluster = nullptr;           // must outlive the calls
  std::vector<int> devices = {};              // of the plan, ascending; empty: all
  int64_t steps = 0;                          // > 0
  std::vector<int64_t> network_changes = {};  // steps at which the network changes, ascending, > 0
  std::vector<ClusterEvent> events = {};      // FindErrors() is empty
  int nodes_per_rack = 0;                     // Racks
  EventRates rates = {};
  CheckpointPolicy checkpoint = {};
  Recovery recovery = {};
  StepFunction step;
  ReplanFunction replan = nullptr;  // for kReplan
};

// Returns every problem of a specification as "steps: got 0, want above 0"; nothing if it can be
// simulated. Events and rates are checked where they are read.
std::vector<std::string> FindErrors(const RunSpec& spec);

// The run cannot go on: a sentence that says when, why, and what is left of the cluster.
class RunCannotContinue : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

// Returns the history of one run. A run with checkpoints writes the last one at its end.
//
// A slow device or link changes the pace of the step in progress; a failure of a device of the plan
// loses it, and all steps since the last complete checkpoint. A step that cannot go on although all
// devices work, because a link is down, waits for `detection` and is then lost as well. A device
// that leaves with notice is preceded by a checkpoint if there is time for one, and needs no
// detection. Devices that return join the run at the end of a step. What fails while the run
// recovers starts the recovery again.
//
// Precondition: FindErrors(spec) is empty. Takes O(events + checkpoints). Throws RunCannotContinue
// if the run stops for good, or does not get on.
History SimulateRun(const RunSpec& spec, Random random);

// Returns the totals of `runs` histories with independent random numbers, in the order of their
// numbers; the same for any number of threads. Throws what the first history that fails throws.
std::vector<RunTotals> SimulateRuns(const RunSpec& spec, int runs, Random random);

}  // namespace stagecraft
