#include "search/layer_times.h"

#include <cstdint>
#include <utility>

#include "sim/bound_costs.h"
#include "sim/schedule.h"

namespace stagecraft {

std::vector<LayerTimes> MeasureLayers(const SearchProblem& problem, const ShardSpec& spec,
                                      const Device& device) {
  Schedule::Builder builder;
  const auto add = [&](const Steps& steps) {
    std::vector<OpId> ids;
    std::vector<uint8_t> flags;
    for (const Step& step : steps) {
      ids.push_back(builder.AddOp(step.op));
      flags.push_back(step.flags);
    }
    return builder.AddBlock(ids, flags);
  };
  std::vector<std::pair<BlockId, BlockId>> blocks;
  for (const LayerKind& kind : problem.workload.kinds) {
    const LayerSteps steps = ShardLayer(kind, spec);
    const BlockId forward = add(steps.forward);
    blocks.emplace_back(forward, add(steps.backward));
  }
  const Schedule schedule = builder.Build();
  const std::vector<Estimate> estimates = problem.model.Predict(schedule.distinct_ops(), device);
  std::vector<LayerTimes> times;
  for (size_t kind = 0; kind < blocks.size(); ++kind) {
    const auto [forward, backward] = blocks[kind];
    LayerTimes own{TimesOf(schedule, forward, estimates).device, Duration()};
    if (!problem.given.forward_only) {
      own.backward = TimesOf(schedule, backward, estimates).device;
      if (RecomputesWhole(problem.workload.kinds[kind], spec)) own.backward += own.forward;
    }
    times.push_back(own);
  }
  return times;
}

}  // namespace stagecraft
