#include "sim/pipeline/make_pass_orders.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "costmodel/check.h"
#include "sim/pipeline/dual_pipe.h"
#include "sim/pipeline/list_scheduler.h"

namespace stagecraft {
namespace {

PassOrders ByStage(int stages, const std::function<PassOrder(int)>& order) {
  PassOrders orders;
  for (int stage = 0; stage < stages; ++stage) orders.push_back(order(stage));
  return orders;
}

// By stage, the memory of as many micro-batches as 1F1B's first stage holds, times `share`.
std::vector<int64_t> Limits(const PassOrderInputs& inputs, int micro_batches, double share) {
  const auto stages = static_cast<int>(inputs.memory.size());
  std::vector<int64_t> limits;
  for (const std::vector<PassMemory>& chunks : inputs.memory) {
    double one = 0;
    for (const PassMemory& chunk : chunks) one += static_cast<double>(chunk.after_forward);
    limits.push_back(std::llround(share * one * std::min(stages, micro_batches)));
  }
  return limits;
}

PassOrders Automatic(const PipelineScheduleOptions& options, int micro_batches,
                     const PassOrderInputs& inputs) {
  std::vector<PassMemory> memory;
  for (const std::vector<PassMemory>& chunks : inputs.memory) memory.push_back(chunks[0]);
  return AutomaticZeroBubbleOrders(inputs.costs, micro_batches, memory,
                                   Limits(inputs, micro_batches, options.activation_limit),
                                   options.search);
}

// ZB-V counts all chunks alike, so the one that holds most stands for all.
PassOrders ZeroBubbleV(int micro_batches, const PassOrderInputs& inputs) {
  PassMemory widest;
  for (const std::vector<PassMemory>& chunks : inputs.memory) {
    for (const PassMemory& chunk : chunks) {
      if (chunk.after_forward > widest.after_forward) widest = chunk;
    }
  }
  return ZeroBubbleVOrders(inputs.costs, micro_batches, widest);
}

PassOrders Listed(const PipelineScheduleOptions& options, const ChunkMap& map, int micro_batches,
                  const PassOrderInputs& inputs) {
  ListScheduling list;
  list.split_backward = true;
  if (options.activation_limit > 0) {
    list.memory = inputs.memory;
    list.limits = Limits(inputs, micro_batches, options.activation_limit);
  }
  return ListScheduledOrders(map, micro_batches, inputs.costs, list);
}

// Returns the orders with every backward replaced by that of the micro-batch `more` before it, and
// without the forwards of micro-batches that are then left over: `more` micro-batches more are in
// flight.
PassOrders Delayed(PassOrders orders, int more, int micro_batches) {
  for (PassOrder& order : orders) {
    for (Pass& pass : order) {
      if (pass.phase != Phase::kForward) pass.micro_batch -= more;
    }
    std::erase_if(order, [&](const Pass& pass) {
      return pass.micro_batch < 0 || pass.micro_batch >= micro_batches;
    });
  }
  return orders;
}

}  // namespace

std::string FindMicroBatchError(PipelineSchedule schedule, const ChunkMap& map, int micro_batches) {
  const int stages = map.stages();
  if (schedule == PipelineSchedule::kDualPipe &&
      (micro_batches % 2 != 0 || micro_batches < 2 * stages)) {
    return fmt::format(
        "order: dualpipe with {} micro-batches per pipeline, want an even number, at "
        "least twice the {} stages",
        micro_batches, stages);
  }
  if (schedule == PipelineSchedule::kDualPipeV && micro_batches < 2 * stages) {
    return fmt::format(
        "order: dualpipe-v with {} micro-batches per pipeline, want at least twice "
        "the {} stages",
        micro_batches, stages);
  }
  if (micro_batches < map.chains()) {
    return fmt::format(
        "order: {} with {} micro-batches per pipeline, want one for each of {} "
        "directions",
        Name(schedule), micro_batches, map.chains());
  }
  return "";
}

PassOrders MakePassOrders(PipelineSchedule schedule, const PipelineScheduleOptions& options,
                          const ChunkMap& map, int m, const PassOrderInputs* inputs) {
  const int stages = map.stages();
  CHECK(inputs != nullptr || !NeedsCosts(schedule));
  if (IsSplit(options.vocabulary)) return MakeVocabularyOrders(schedule, options, map, m).passes;
  switch (schedule) {
    case PipelineSchedule::kGpipe:
      return PassOrders(stages, GpipeOrder(m));
    case PipelineSchedule::kOneForwardOneBackward:
      return ByStage(stages, [&](int s) {
        if (options.pairs_passes) return PairedOneForwardOneBackwardOrder(s, stages, m);
        return OneForwardOneBackwardOrder(DappleWarmup(s, stages, m, options.warmup), m);
      });
    case PipelineSchedule::kInterleaved: {
      MicroBatchGroups groups = options.groups;
      if (groups.size == 0) groups.size = stages;
      groups.one_more_warmup = groups.one_more_warmup || options.pairs_passes;
      groups.pairs_passes = options.pairs_passes;
      return ByStage(stages,
                     [&](int s) { return InterleavedOrder(s, stages, map.chunks(), m, groups); });
    }
    case PipelineSchedule::kBreadthFirst:
      return PassOrders(stages, BreadthFirstOrder(map.chunks(), m));
    case PipelineSchedule::kZeroBubbleH1:
      return ByStage(stages, [&](int s) { return ZeroBubbleH1Order(s, stages, m); });
    case PipelineSchedule::kZeroBubbleH2:
      return ByStage(stages, [&](int s) { return ZeroBubbleH2Order(s, stages, m); });
    case PipelineSchedule::kZeroBubbleAuto:
      return Automatic(options, m, *inputs);
    case PipelineSchedule::kZeroBubbleV:
      return ZeroBubbleV(m, *inputs);
    case PipelineSchedule::kVHalf:
      return VHalfOrders(stages, m);
    case PipelineSchedule::kVMin:
      return VMinOrders(stages, m);
    case PipelineSchedule::kDualPipe:
      return DualPipeOrders(stages, m);
    case PipelineSchedule::kDualPipeV:
      return DualPipeVOrders(stages, m);
    case PipelineSchedule::kChimera:
      return ChimeraOrders(stages, map.chains() / 2, m, options.slots);
    case PipelineSchedule::kList:
      return Listed(options, map, m, *inputs);
    // The beginning of their orders, for as many micro-batches as are simulated, if every stage has
    // one replica.
    case PipelineSchedule::kPipeDream:
    case PipelineSchedule::kPipeDream2bw:
      return ByStage(stages, [&](int s) { return OneForwardOneBackwardOrder(stages - 1 - s, m); });
    case PipelineSchedule::kCustom:
      break;
  }
  CHECK(false);
  return {};
}

bool Supports(PipelineSchedule schedule, VocabularyPlacement placement) {
  if (!IsSplit(placement)) return true;
  const bool is_interlaced = placement == VocabularyPlacement::kInterlaced;
  return Reads(schedule, is_interlaced ? kReadsInterlaced : kReadsVocabulary);
}

VocabularyOrders MakeVocabularyOrders(PipelineSchedule schedule,
                                      const PipelineScheduleOptions& options, const ChunkMap& map,
                                      int micro_batches) {
  CHECK(IsSplit(options.vocabulary) && Supports(schedule, options.vocabulary));
  if (options.vocabulary == VocabularyPlacement::kInterlaced) {
    return InterlacedOrders(map.stages(), micro_batches);
  }
  const int more = ExtraInFlight(options.vocabulary);
  PipelineScheduleOptions without = options;
  without.vocabulary = VocabularyPlacement::kFirstLast;
  const PassOrders orders = MakePassOrders(schedule, without, map, micro_batches + more, nullptr);
  return WithVocabulary(options.vocabulary, map, Delayed(orders, more, micro_batches),
                        micro_batches);
}

}  // namespace stagecraft
