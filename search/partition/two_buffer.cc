#include "search/partition/two_buffer.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "search/partition/pipedream.h"
#include "search/partition/stage_chain.h"

namespace stagecraft {
namespace {

constexpr double kRecomputeFactor = 4.0 / 3;  // the forward again; the backward is twice as long

struct Cut {
  StageSums sums;
  NodeSet nodes;
};

// Returns the cuts whose slowest stage computes least; none if the network has fewer states than
// stages.
std::vector<Cut> CutsOf(const AntichainStates& states, int depth, Bandwidth bandwidth,
                        const StopSign& stop) {
  PipeDreamOptions options;
  options.levels = {{depth, bandwidth}};
  options.straight = true;
  const PipeDreamPartition partition = SolvePipeDream(states, options, stop);
  std::vector<Cut> cuts;
  NodeSet done(states.states[0].done.size());
  int begin = 0;
  for (const PipeDreamStage& stage : partition.stages) {
    done |= stage.nodes;
    int end = begin;
    while (states.states[end].done != done) ++end;
    cuts.push_back({SumsOf(states, begin, end), stage.nodes});
    begin = end + 1;
  }
  return cuts;
}

// Sets period, stages and rate of the plan. Returns false if a stage does not fit.
bool Evaluate(const std::vector<Cut>& cuts, const TwoBufferOptions& options, TwoBufferPlan& plan) {
  const double bandwidth = options.bandwidth.bytes_per_s();
  const double b = plan.per_micro_batch;
  for (const Cut& cut : cuts) {
    const StageSums& sums = cut.sums;
    TwoBufferStage stage;
    stage.nodes = cut.nodes;
    stage.time_s = b * sums.compute_s * (plan.recompute ? kRecomputeFactor : 1) +
                   b * (sums.input_bytes + sums.output_bytes) / bandwidth;
    stage.memory_bytes = 2 * sums.parameter_bytes + b * sums.activation_bytes +
                         (plan.recompute ? plan.depth * b * sums.input_bytes : 0);
    if (options.memory && stage.memory_bytes > static_cast<double>(options.memory->count())) {
      return false;
    }
    const double sync_s = 2.0 * (plan.width - 1) / plan.width * sums.parameter_bytes / bandwidth;
    plan.period_s = std::max({plan.period_s, stage.time_s, sync_s / plan.micro_batches});
    plan.stages.push_back(std::move(stage));
  }
  plan.rate_per_s = b * plan.width / plan.period_s;
  return true;
}

// Replaces `best` by the best plan of a depth if that is better.
void TryDepth(const std::vector<Cut>& cuts, int depth, const TwoBufferOptions& options,
              std::optional<TwoBufferPlan>& best) {
  for (int b = 1; b <= options.most_per_micro_batch; b *= 2) {
    for (const bool recompute : {false, true}) {
      TwoBufferPlan plan;
      plan.depth = depth;
      plan.width = options.devices / depth;
      plan.per_micro_batch = b;
      plan.recompute = recompute;
      plan.micro_batches = options.batch / (b * plan.width);
      const bool is_whole = plan.micro_batches * b * plan.width == options.batch;
      if (!is_whole || plan.micro_batches < depth) continue;
      if (!Evaluate(cuts, options, plan)) continue;
      if (!best || plan.rate_per_s > best->rate_per_s) best = std::move(plan);
    }
  }
}

}  // namespace

std::optional<TwoBufferPlan> SolveTwoBuffer(const AntichainStates& states,
                                            const TwoBufferOptions& options, const StopSign& stop) {
  CHECK(options.devices >= 1 && options.batch >= 1);
  std::optional<TwoBufferPlan> best;
  try {
    for (int depth = 1; depth <= options.devices; ++depth) {
      if (options.devices % depth != 0) continue;
      const std::vector<Cut> cuts = CutsOf(states, depth, options.bandwidth, stop);
      if (!cuts.empty()) TryDepth(cuts, depth, options, best);
    }
  } catch (const Stopped&) {
    if (!best) throw;
  }
  return best;
}

}  // namespace stagecraft
