// OpSequenceTable: the distinct ops and op sequences of a schedule under construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "costmodel/op.h"
#include "sim/lowering/op_memory.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/shard/shard.h"
#include "sim/shard/vocabulary_shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Says what runs beside a pass. With kPass it is another pass, and collectives hide behind its
// computation, but not exchanges between experts. With kExchanges it is the exchanges of the pass
// and of another one, which are tasks of their own; other collectives do not hide. With
// kPassAndExchanges it is both.
enum class Beside { kNothing, kPass, kExchanges, kPassAndExchanges };

class OpSequenceTable {
 public:
  // All arguments must outlive it. Begins a plan in `memory`.
  OpSequenceTable(const Workload& workload, OpMemory& memory, Schedule::Builder& builder)
      : workload_(workload), memory_(memory), builder_(builder) {
    memory.BeginPlan();
  }

  // Returns a number for a shard; equal shards get the same number.
  int InternShard(const ShardSpec& spec);
  const ShardSpec& shard(int number) const { return shards_[number]; }
  // Returns the op sequence of one pass through a range of layers; ranges of like layers share it.
  // A backward goes from the last layer to the first. The host makes `calls` calls, each as long as
  // the launch of a kernel, before it launches the first op of the pass.
  OpSequenceId PassOpSequence(int shard, LayerRange range, Phase phase,
                              Beside beside = Beside::kNothing, int calls = 0);
  // Returns the op sequence of the exchanges that Beside::kExchanges and kPassAndExchanges leave
  // out; -1 if there are none.
  OpSequenceId ExchangeOpSequence(int shard, LayerRange range, Phase phase);
  // Returns the op sequence of one pass through a share of the vocabulary; all of a schedule's have
  // the same placement, and as many calls.
  OpSequenceId SharedOpSequence(int shard, VocabularyPart part, VocabularyPlacement placement,
                                Phase phase, int calls = 0);
  // Returns an op sequence of one op.
  OpSequenceId SingleOp(const Op& op);
  // Returns an op sequence of one op of the host, or one copy to or from it (kOnHost).
  OpSequenceId HostOp(const Op& op);
  // Returns an op sequence of ops that run one after another.
  OpSequenceId OpSequenceOf(const std::vector<Op>& ops);

 private:
  struct Sequence {
    std::vector<OpId> ops;
    std::vector<uint8_t> flags;
  };
  struct LayerSequences {
    Sequence forward;
    Sequence backward;
  };
  OpId InternOp(const Op& op) { return Intern(memory_.NumberOf(op)); }
  // Returns the op of this number in `memory_`.
  OpId Intern(int32_t number);
  Sequence Intern(const OpMemory::Sequence& sequence);
  Sequence InternSteps(const Steps& steps);
  // Appends the ops of one layer in a pass of this phase.
  static void AppendPass(const LayerSequences& layer, Phase phase, Sequence& pass);
  // Returns the ops of a pass that exchange rows between experts, or all others.
  static Sequence Filtered(const Sequence& pass, bool exchanges);
  void AppendRepeated(int shard, int layer, Sequence& pass);
  // Adds a pass with the calls of the host before its first op; one without ops needs none.
  OpSequenceId AddPass(Sequence pass, int calls);
  // Returns all ops of a pass through a range.
  Sequence WholePass(int shard, LayerRange range, Phase phase);
  // What a pass runs.
  struct PassKey {
    int shard = 0;
    Phase phase = Phase::kForward;
    Beside beside = Beside::kNothing;
    int calls = 0;  // of the host
    // What the layers of a range are and recompute; ranges with equal contents run the same ops.
    std::vector<int> contents;
    friend bool operator==(const PassKey&, const PassKey&) = default;
  };
  struct PassKeyHash {
    size_t operator()(const PassKey& key) const;
  };
  void SetContents(LayerRange range, PassKey& key) const;
  const LayerSequences& Layer(int shard, int layer);

  const Workload& workload_;
  OpMemory& memory_;
  Schedule::Builder& builder_;
  std::vector<OpId> op_ids_;         // by number in `memory_`; -1: not in the schedule
  std::vector<bool> is_collective_;  // by op
  std::vector<ShardSpec> shards_;
  std::map<std::tuple<int, int, bool>, LayerSequences> layers_;  // shard, kind, recomputes whole
  std::map<std::pair<int, VocabularyPart>, LayerSequences> shared_layers_;  // by shard
  std::map<std::tuple<int, VocabularyPart, Phase>, OpSequenceId> shared_op_sequences_;
  PassKey key_;  // the last one, kept to reuse its allocations
  std::unordered_map<PassKey, OpSequenceId, PassKeyHash> pass_op_sequences_;
  std::unordered_map<PassKey, OpSequenceId, PassKeyHash> exchange_op_sequences_;
  std::map<OpId, OpSequenceId> single_op_sequences_, host_op_sequences_;
  std::map<std::vector<OpId>, OpSequenceId> listed_op_sequences_;
};

}  // namespace stagecraft
