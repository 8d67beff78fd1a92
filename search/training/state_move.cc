#include "search/training/state_move.h"

#include <algorithm>
#include <map>
#include <vector>

#include "costmodel/divide.h"
#include "costmodel/op.h"
#include "sim/cluster/message_fabrics.h"
#include "sim/engine/sim_executor.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/model_states.h"
#include "sim/schedule/schedule.h"
#include "sim/shard/shard.h"
#include "sim/workload/tied_layers.h"

namespace stagecraft {
namespace {

// The stage of each layer.
std::vector<int> StageOfLayer(const Plan& plan, int layers) {
  std::vector<int> stage_of(static_cast<size_t>(layers), -1);
  for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
    for (const LayerRange& range : plan.stages[stage].chunks) {
      for (int i = 0; i < range.count; ++i) stage_of[range.first + i] = static_cast<int>(stage);
    }
  }
  return stage_of;
}

// What a rank hands on of a layer, less what is tied if the receiver has it: gradients are zero
// between steps.
Bytes MovedStates(const Plan& plan, const Workload& workload, int stage, int layer,
                  bool receiver_has_tied, const FrameworkMemory& framework) {
  const Stage& own = plan.stages[stage];
  const LayerKind& kind = workload.layer(layer);
  ParameterCount all = ShardParameters(kind, own.tensor_parallel, own.expert_parallel);
  ParameterCount trained = ShardTrained(kind, own.tensor_parallel, own.expert_parallel);
  if (receiver_has_tied) {
    const int64_t tied = DivideUp(kind.tied_parameters, own.tensor_parallel);
    all.dense -= tied;
    if (kind.TrainsTied()) trained.dense -= tied;
  }
  const ModelStates states = ShareOut(all, trained, SharingOf(plan, workload, stage, framework));
  return states.weights + states.optimizer + states.host +
         ShardIndices(kind, own.tensor_parallel, own.expert_parallel);
}

// Builds the schedule of all messages: one at a time leaves a device, and one arrives.
class MoveLowering {
 public:
  explicit MoveLowering(const Cluster& cluster) : fabrics_(cluster) {}

  // The messages of one layer between two stages.
  void Add(std::span<const MessageEnds> messages, Bytes bytes) {
    const std::vector<Fabric> fabrics = fabrics_.Describe(messages);
    for (size_t i = 0; i < messages.size(); ++i) {
      const auto [sender, receiver] = messages[i];
      const OpId op = builder_.AddOp(Op::Collective(OpKind::kSendRecv, bytes, fabrics[i]));
      const Lane lanes[] = {LaneOf(sender, LaneKind::kSendNext),
                            LaneOf(receiver, LaneKind::kSendPrevious)};
      const TaskId task = builder_.Add(lanes, {}, builder_.AddOpSequence({{op}}),
                                       Tag{.rank = rank_of_[sender], .phase = Phase::kParamGather});
      builder_.SetCommunicator(task, builder_.AddCommunicator({{sender, receiver}}));
    }
  }
  Schedule Build() { return builder_.Build(); }

 private:
  Lane LaneOf(int device, LaneKind kind) {
    const auto rank = rank_of_.try_emplace(device, -1).first;
    if (rank->second < 0) rank->second = builder_.AddRank({.device = device});
    const auto lane = lane_of_.find({device, kind});
    if (lane != lane_of_.end()) return lane->second;
    return lane_of_[{device, kind}] = builder_.AddLane({rank->second, kind});
  }

  MessageFabrics fabrics_;
  Schedule::Builder builder_;
  std::map<int, int32_t> rank_of_;
  std::map<std::pair<int, LaneKind>, Lane> lane_of_;
};

}  // namespace

StateMove MoveStates(const Plan& before, const Plan& after, const Workload& workload,
                     const Cluster& cluster, const CostModel& model,
                     const SimulationOptions& options) {
  const std::vector<int> from = StageOfLayer(before, workload.layer_count());
  const std::vector<int> to = StageOfLayer(after, workload.layer_count());
  const std::vector<int> tied = TiedLayers(workload);
  // Whether the devices of a stage hold the tensor that a layer shares with others, with the same
  // states, before anything moves.
  const auto has_tied = [&](const Stage& target, int layer) {
    if (workload.layer(layer).tied_parameters == 0) return false;
    return std::any_of(tied.begin(), tied.end(), [&](int other) {
      return other != layer && before.stages[from[other]].replicas == target.replicas &&
             TrainsTied(workload, other) == TrainsTied(workload, layer);
    });
  };
  StateMove move;
  MoveLowering lowering(cluster);
  std::map<int, Bytes> arriving;  // by device
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    const Stage& source = before.stages[from[layer]];
    const Stage& target = after.stages[to[layer]];
    if (source.replicas == target.replicas) continue;
    const Bytes bytes = MovedStates(before, workload, from[layer], layer, has_tied(target, layer),
                                    options.framework);
    std::vector<MessageEnds> messages;
    for (size_t replica = 0; replica < source.replicas.size(); ++replica) {
      for (size_t i = 0; i < source.replicas[replica].size(); ++i) {
        messages.push_back({source.replicas[replica][i], target.replicas[replica][i]});
        arriving[messages.back().receiver] += bytes;
      }
    }
    ++move.layers;
    move.bytes += static_cast<int64_t>(messages.size()) * bytes;
    lowering.Add(messages, bytes);
  }
  if (move.layers == 0) return move;
  for (const auto& [device, bytes] : arriving) move.most_beside = std::max(move.most_beside, bytes);
  SimExecutor executor(cluster, model, options.network);
  move.time = executor.Execute(lowering.Build()).makespan();
  return move;
}

}  // namespace stagecraft
