#include <fmt/format.h>

#include <algorithm>

#include "costmodel/check.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pytorch_csv.h"

namespace stagecraft {
namespace {

char OpOf(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return 'F';
    case Phase::kBackwardInput:
      return 'I';
    case Phase::kBackwardWeight:
      return 'W';
    default:
      return 'B';
  }
}

std::string CellOf(const ChunkMap& map, int stage, const Pass& pass) {
  return fmt::format("{}{}{}", map.PartAt({stage, pass.chunk}).index, OpOf(pass.phase),
                     pass.micro_batch);
}

// Times the orders in steps of a nanosecond: a whole backward takes one step like input gradients,
// and two passes beside each other half of their sum.
OrderTimes StepsOf(const ChunkMap& map, std::span<const PassOrder> orders, int micro_batches) {
  PassOrders steps(orders.begin(), orders.end());
  for (PassOrder& order : steps) {
    for (Pass& pass : order) {
      if (pass.phase == Phase::kBackward) pass.phase = Phase::kBackwardInput;
    }
  }
  PipelineCosts costs = UniformCosts(map.stages(), map.chunks(), {1_ns, 1_ns, 1_ns}, Duration());
  costs.beside_share = 0.5;
  return TimeOrders(map, steps, micro_batches, costs);
}

}  // namespace

std::string WritePytorchCsv(const ChunkMap& map, std::span<const PassOrder> orders,
                            int micro_batches) {
  if (map.chains() > 1) {
    throw InputError(
        "a PyTorch schedule CSV holds every stage once, so no pipelines in two "
        "directions");
  }
  const OrderTimes times = StepsOf(map, orders, micro_batches);
  const size_t steps = static_cast<size_t>(times.Makespan().ns());
  std::string text;
  for (int stage = 0; stage < map.stages(); ++stage) {
    std::vector<std::string> cells(steps);
    for (size_t i = 0; i < orders[stage].size(); ++i) {
      const Pass& pass = orders[stage][i];
      std::string& cell = cells[static_cast<size_t>(times.passes[stage][i].start.ns())];
      if (pass.beside_next) {
        const std::string next = CellOf(map, stage, orders[stage][++i]);
        cell = fmt::format("({};{})OVERLAP_F_B", CellOf(map, stage, pass), next);
      } else {
        cell = CellOf(map, stage, pass);
      }
    }
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

}  // namespace stagecraft
