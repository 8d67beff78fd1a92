#include "search/partition/pipedream.h"

#include <deque>
#include <limits>

#include "costmodel/check.h"
#include "search/partition/pipedream_level.h"
#include "search/partition/pipedream_stages.h"

namespace stagecraft {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Returns the time of every run of states on one device.
TimeTable ComputeTimes(const AntichainStates& states) {
  TimeTable times = TimeTable::Constant(states.size(), states.size(), kNever);
  for (int end = 0; end < states.size(); ++end) {
    const AntichainState& last = states.states[end];
    times(0, end) = last.compute.seconds();
    for (size_t before = last.earlier.find_first(); before != NodeSet::npos;
         before = last.earlier.find_next(before)) {
      const Duration run = last.compute - states.states[before].compute;
      times(static_cast<Eigen::Index>(before) + 1, end) = run.seconds();
    }
  }
  return times;
}

}  // namespace

PipeDreamPartition SolvePipeDream(const AntichainStates& states, const PipeDreamOptions& options,
                                  const StopSign& stop) {
  CHECK(!options.levels.empty());
  std::deque<TimeTable> times = {ComputeTimes(states)};  // of one machine of each level
  std::vector<PipeDreamLevel> levels;
  int within = 1;
  for (size_t l = 0; l < options.levels.size(); ++l) {
    levels.emplace_back(states, options, options.levels[l], within, times.back());
    times.push_back(levels.back().Best(l + 1 == options.levels.size(), stop));
    within = options.levels[l].machines;
  }
  PipeDreamPartition partition;
  partition.bottleneck_s = times.back()(0, states.size() - 1);
  if (partition.bottleneck_s < kNever) {
    partition.stages = FindStages(states, options, levels, times, 0, states.size() - 1, stop);
  }
  return partition;
}

double DataParallelSeconds(const AntichainStates& states, const std::vector<MachineLevel>& levels) {
  const AntichainState& all = states.states.back();
  double time = all.compute.seconds();
  double within = 1;
  for (const MachineLevel& level : levels) {
    const double bytes = 4.0 * (level.machines - 1) * static_cast<double>(all.parameters.count());
    time += bytes / (level.bandwidth.bytes_per_s() * level.machines) / within;
    time /= level.machines;
    within = level.machines;
  }
  return time;
}

}  // namespace stagecraft
