// SimulateRun(): a training run on a cluster that fails, event by event.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

// What a run does after a failure. All policies but kShrink and kReplan need every device of the
// plan.
struct Recovery {
  enum class Policy {
    kRestart,  // The run waits until everything is repaired.
    kSpare,    // Spare nodes, as long as there are any, replace nodes with failed devices.
    kShrink,   // The run goes on with what is left, as far as the step function allows it.
    kReplan,   // The run goes on with another plan.
  };
  Policy policy = Policy::kRestart;
  Duration detection = {};  // The time from a failure until the run notices it.
  Duration restart = {};    // The time to start processes and communicators.
  Duration reload = {};     // The time to load the last checkpoint, or a copy of the state.
  int spare_nodes = 0;      // The nodes for kSpare, like the others; waiting ones do not fail.
  Duration swap = {};       // The time, for kSpare, until spare nodes have taken their places.
  // Whether, for kShrink, the replicas that are left hold the whole state, so that a failure loses
  // only the step in progress.
  bool survivors_hold_state = false;
};

// A step on what is left of the cluster.
struct RunningStep {
  Duration time;    // It is above 0.
  int devices = 0;  // The number of devices that are at work.
  // The devices of the plan that are not down and do nothing, ascending. The run goes on if they
  // fail, and they have to load the state before they work again.
  std::vector<int> idle = {};
  // What the history is told of the step: its plan, and the idle share of the pipeline.
  std::shared_ptr<const RunPlan> plan = nullptr;
  double idle_share = 0;
};
struct Replanned {
  RunningStep step;
  // What it takes to move weights and optimizer states to where the plan wants them, and back.
  Duration move;
};
// Returns the step of the plan in a state of the cluster; no value if the plan does not run there.
// `network` counts RunSpec::network_changes so far. Both functions are called once for each
// distinct pair of arguments, from any thread.
using StepFunction =
    std::function<std::optional<RunningStep>(const ClusterState& state, int network)>;
// Returns another plan for a state; no value if the plan of the step function stays.
using ReplanFunction =
    std::function<std::optional<Replanned>(const ClusterState& state, int network)>;

// From a step on, the network is another one.
struct StepChange {
  int64_t step = 0;
  Duration cost = {};       // How long the run stops for it, such as to move layers.
  std::string reason = {};  // It is in words, for the phase of this time.
};

struct RunSpec {
  const Cluster* cluster = nullptr;  // It must outlive the calls.
  std::vector<int> devices = {};     // The devices of the plan, ascending; if empty, all.
  int64_t steps = 0;                 // The number of steps, > 0.
  std::vector<StepChange> network_changes = {};  // Steps ascend and are above 0.
  std::vector<ClusterEvent> events = {};         // The events of a file; FindErrors() is empty.
  int nodes_per_rack = 0;                        // The argument of Racks.
  EventRates rates = {};
  CheckpointPolicy checkpoint = {};
  Recovery recovery = {};
  StepFunction step;
  ReplanFunction replan = nullptr;  // It is needed for kReplan.
};

// Returns every problem of a specification as "steps: got 0, want above 0"; nothing if it can be
// simulated. Events and rates are checked where they are read.
std::vector<std::string> FindErrors(const RunSpec& spec);

// The run cannot go on: a sentence that says when, why, and what is left of the cluster.
class RunCannotContinue : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

// Simulates one run. Precondition: FindErrors(spec) is empty. Takes O(events + checkpoints +
// network changes), times the devices that are down or slow.
//
// A slow device or link changes the pace of the step in progress; a failure of a device at work
// loses it, and all steps since the last complete checkpoint. A step that cannot go on although all
// devices work, because a link is down, waits for `detection` and is then lost as well. A device
// that leaves with notice is preceded by a checkpoint if there is time for one, and needs no
// detection. Devices that return join the run at the end of a step, for which it restarts and they
// load the state; or at once if the run restarts anyway. What fails while the run recovers starts
// the recovery again. A change of the network costs its time whenever the run comes past it, but
// not if the run reloads a checkpoint of that very step.
//
// Throws RunCannotContinue if the run stops for good, would take longer than kLongestTime, or does
// not get on; InputError if events are in an impossible order; and what the functions of the
// specification throw. `history` then has what was simulated until then, and the sentence in
// History::stopped.
void SimulateRun(const RunSpec& spec, Random random, History* history);
History SimulateRun(const RunSpec& spec, Random random);

// Returns the totals of `runs` histories with independent random numbers, in the order of their
// numbers; the same for any number of threads. Throws what the first history that fails throws.
std::vector<RunTotals> SimulateRuns(const RunSpec& spec, int runs, Random random);

}  // namespace stagecraft
