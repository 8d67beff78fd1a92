#include "sim/lowering/vocabulary_lowering.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/op.h"
#include "sim/lowering/exchange_devices.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/vocabulary_orders.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/shard/vocabulary_shard.h"

namespace stagecraft {
namespace {

using Kind = VocabularyExchangeKind;

// The exchanges of one pipeline, which has one worker for each stage.
class ExchangeLowering {
 public:
  ExchangeLowering(LoweringContext& context, const LoweredPasses& passes, int instance)
      : context_(context),
        plan_(context.plan),
        passes_(passes),
        map_(MapOf(context.plan)),
        waits_(plan_.schedule_options.vocabulary == VocabularyPlacement::kInterlaced),
        halves_(plan_.schedule_options.vocabulary == VocabularyPlacement::kVocab2),
        instance_(context.folding().instances[instance]) {
    for (size_t w = 0; w < passes.workers().size(); ++w) {
      if (passes.workers()[w].instance == instance) workers_.push_back(w);
    }
    AddRanks();
    if (waits_) FindPlaces();
  }

  void Run() {
    const int micro_batches = ReplicaMicroBatches(plan_, 0, instance_.replicas[0][0]);
    for (const VocabularyExchange& exchange :
         MakeVocabularyOrders(plan_.schedule, plan_.schedule_options, map_, micro_batches)
             .exchanges) {
      Add(exchange);
    }
  }

 private:
  // The devices of all stages with the same index in their replica, or the first ones if one rank
  // stands for all.
  struct Group {
    std::vector<Lane> lanes;           // by stage
    int32_t rank = -1;                 // of the first stage
    int32_t onward = -1;               // communicator from the first stage on,
    int32_t from_output = -1;          // and from the stage with the network's output on
    std::vector<std::vector<Op>> ops;  // by kind
  };

  const LoweredWorker& worker(int stage) const { return passes_.workers()[workers_[stage]]; }

  void AddRanks() {
    const ChunkMap::Place output = map_.PlaceOf({0, map_.length() - 1});
    for (size_t rank = 0; rank < worker(0).ranks.size(); ++rank) {
      Group group;
      group.rank = worker(0).ranks[rank];
      for (int stage = 0; stage < map_.stages(); ++stage) {
        group.lanes.push_back(
            context_.builder.AddLane({worker(stage).ranks[rank], LaneKind::kVocabulary}));
      }
      std::vector<int> devices = PipelineDevices(plan_, instance_, static_cast<int>(rank));
      AddOps(context_.memory.DescribeGroup(devices), group);
      group.onward = context_.builder.AddCommunicator({{devices.begin(), devices.end()}});
      if (output.stage > 0) std::reverse(devices.begin(), devices.end());
      group.from_output = context_.builder.AddCommunicator({{devices.begin(), devices.end()}});
      groups_.push_back(std::move(group));
    }
  }

  void AddOps(const Fabric& fabric, Group& group) const {
    const ShardSpec& spec = context_.op_sequences.shard(worker(0).shard);
    for (const Kind kind : {Kind::kEmbedding, Kind::kHidden, Kind::kStatistics,
                            Kind::kInputGradient, Kind::kEmbeddingGradient}) {
      group.ops.push_back(ExchangeOps(context_.workload, kind, spec, fabric));
    }
  }

  // Finds where the passes of the vocabulary are in the order of each worker.
  void FindPlaces() {
    places_.resize(workers_.size());
    for (size_t stage = 0; stage < workers_.size(); ++stage) {
      const PassOrder& order = worker(static_cast<int>(stage)).order;
      places_[stage].resize(2 * kVocabularyChunks * order.size());
      for (size_t i = 0; i < order.size(); ++i) {
        if (order[i].chunk >= map_.chunks()) places_[stage][PlaceIndex(order[i])] = i;
      }
    }
  }
  size_t PlaceIndex(const Pass& pass) const {
    const auto part = static_cast<size_t>(PartOf(pass.chunk, map_.chunks()));
    const size_t kind = 2 * part + (pass.phase == Phase::kForward ? 0 : 1);
    return 2 * kVocabularyChunks * static_cast<size_t>(pass.micro_batch) + kind;
  }

  Pass PassAt(ChunkMap::Place place, Phase phase, int micro_batch) const {
    return {phase, static_cast<int16_t>(place.chunk), micro_batch};
  }
  Pass Shared(VocabularyPart part, Phase phase, int micro_batch) const {
    return {phase, static_cast<int16_t>(ChunkOf(part, map_.chunks())), micro_batch};
  }

  // The pass of the vocabulary that hands its results to an exchange, or none if it takes that of a
  // stage; and the one that takes the results, or none if a stage does.
  std::optional<Pass> Before(const VocabularyExchange& exchange) const {
    const int b = exchange.micro_batch;
    switch (exchange.kind) {
      case Kind::kEmbedding:
        return Shared(VocabularyPart::kEmbedding, Phase::kForward, b);
      case Kind::kStatistics:
        return Shared(VocabularyPart::kOutput, Phase::kForward, b);
      case Kind::kInputGradient:
        return Shared(VocabularyPart::kOutput, halves_ ? Phase::kBackwardInput : Phase::kBackward,
                      b);
      case Kind::kHidden:
      case Kind::kEmbeddingGradient:
        break;
    }
    return {};
  }
  std::optional<Pass> After(const VocabularyExchange& exchange) const {
    const int b = exchange.micro_batch;
    switch (exchange.kind) {
      case Kind::kHidden:
        return Shared(VocabularyPart::kOutput, Phase::kForward, b);
      case Kind::kStatistics:
        return Shared(VocabularyPart::kOutput, halves_ ? Phase::kBackwardWeight : Phase::kBackward,
                      b);
      case Kind::kEmbeddingGradient:
        return Shared(VocabularyPart::kEmbedding, Phase::kBackward, b);
      case Kind::kEmbedding:
      case Kind::kInputGradient:
        break;
    }
    return {};
  }

  // The pass of the stage that holds the network's input or output.
  TaskId TaskOfEnd(const VocabularyExchange& exchange, bool is_before) const {
    const bool is_input =
        exchange.kind == Kind::kEmbedding || exchange.kind == Kind::kEmbeddingGradient;
    const ChunkMap::Place place = map_.PlaceOf({0, is_input ? 0 : map_.length() - 1});
    const bool is_forward = exchange.kind == Kind::kEmbedding || exchange.kind == Kind::kHidden;
    const Pass pass =
        PassAt(place, is_forward ? Phase::kForward : Phase::kBackward, exchange.micro_batch);
    const size_t w = workers_[place.stage];
    return is_before ? passes_.Last(w, pass) : passes_.First(w, pass);
  }

  void Add(const VocabularyExchange& exchange) {
    const std::optional<Pass> before = Before(exchange);
    const std::optional<Pass> after = After(exchange);
    std::vector<TaskId> inputs, outputs;
    if (!before) inputs.push_back(TaskOfEnd(exchange, true));
    if (!after) outputs.push_back(TaskOfEnd(exchange, false));
    for (const size_t w : workers_) {
      if (before) inputs.push_back(passes_.Last(w, *before));
      if (after) outputs.push_back(passes_.First(w, *after));
    }
    if (waits_) AddNeighbors(before, after, inputs, outputs);
    for (const Group& group : groups_) {
      const TaskId last = AddTasks(exchange, group, inputs);
      for (const TaskId output : outputs) context_.builder.AddDependency(last, output);
    }
  }

  // Adds, on every stage, the pass before the one that takes the results, or the pass after the one
  // that hands in its own.
  void AddNeighbors(const std::optional<Pass>& before, const std::optional<Pass>& after,
                    std::vector<TaskId>& inputs, std::vector<TaskId>& outputs) const {
    for (size_t stage = 0; stage < workers_.size(); ++stage) {
      const PassOrder& order = worker(static_cast<int>(stage)).order;
      if (!before) {
        const size_t place = places_[stage][PlaceIndex(*after)];
        if (place > 0) inputs.push_back(passes_.Last(workers_[stage], order[place - 1]));
      } else {
        const size_t place = places_[stage][PlaceIndex(*before)];
        if (place + 1 == order.size()) continue;
        outputs.push_back(passes_.First(workers_[stage], order[place + 1]));
      }
    }
  }

  // Adds the collectives of an exchange, one after another, and returns the last.
  TaskId AddTasks(const VocabularyExchange& exchange, const Group& group,
                  std::span<const TaskId> inputs) {
    const bool is_output =
        exchange.kind != Kind::kEmbedding && exchange.kind != Kind::kEmbeddingGradient;
    Tag tag;
    tag.rank = group.rank;
    tag.chunk = static_cast<int16_t>(is_output ? OutputChunk(map_.chunks())
                                               : EmbeddingChunk(map_.chunks()));
    tag.micro_batch = exchange.micro_batch;
    tag.phase = Phase::kVocabularyExchange;
    TaskId last = -1;
    for (const Op& op : group.ops[static_cast<size_t>(exchange.kind)]) {
      const bool is_first = last < 0;
      last = context_.AddTask(op, group.lanes,
                              is_first ? inputs : std::span<const TaskId>(&last, 1), tag);
      const bool is_from_output = exchange.kind == Kind::kHidden;
      context_.builder.SetCommunicator(last, is_from_output ? group.from_output : group.onward);
      ++tag.segment;
    }
    return last;
  }

  LoweringContext& context_;
  const Plan& plan_;
  const LoweredPasses& passes_;
  const ChunkMap map_;
  const bool waits_;   // stages compute nothing during an exchange
  const bool halves_;  // the backward of the logits has two halves
  const PipelineInstance& instance_;
  std::vector<size_t> workers_;  // by stage
  std::vector<Group> groups_;    // by rank
  // By stage, then PlaceIndex(): positions in the order of its worker.
  std::vector<std::vector<size_t>> places_;
};

}  // namespace

void AddVocabularyExchanges(LoweringContext& context, const LoweredPasses& passes) {
  for (size_t i = 0; i < context.folding().instances.size(); ++i) {
    ExchangeLowering(context, passes, static_cast<int>(i)).Run();
  }
}

}  // namespace stagecraft
