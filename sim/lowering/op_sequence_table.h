// OpSequenceTable: the distinct ops and op sequences of a schedule under construction.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "costmodel/op.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/shard/shard.h"
#include "sim/shard/vocabulary_shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

class OpSequenceTable {
 public:
  OpSequenceTable(const Workload& workload, Schedule::Builder& builder)
      : workload_(workload), builder_(builder) {}

  // Returns a number for a shard; equal shards get the same number.
  int InternShard(const ShardSpec& spec);
  const ShardSpec& shard(int number) const { return shards_[number]; }
  // Returns the op sequence of one pass through a range of layers; ranges of like layers share it.
  // A backward goes from the last layer to the first. `paired`: the pass runs beside another one,
  // so that its collectives hide behind computation.
  OpSequenceId PassOpSequence(int shard, LayerRange range, Phase phase, bool paired = false);
  // Returns the op sequence of one pass through a share of the vocabulary; all calls give the same
  // placement.
  OpSequenceId SharedOpSequence(int shard, VocabularyPart part, VocabularyPlacement placement,
                                Phase phase);
  // Returns an op sequence of one op.
  OpSequenceId SingleOp(const Op& op);
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
  OpId InternOp(const Op& op);
  Sequence InternSteps(const Steps& steps);
  // Appends the ops of one layer in a pass of this phase.
  static void AppendPass(const LayerSequences& layer, Phase phase, Sequence& pass);
  void AppendRepeated(int shard, int layer, Sequence& pass);
  // What the layers of a range are and recompute; ranges with equal contents run the same ops.
  std::vector<int> ContentsOf(int shard, LayerRange range) const;
  const LayerSequences& Layer(int shard, int layer);

  const Workload& workload_;
  Schedule::Builder& builder_;
  std::unordered_map<Op, OpId> op_ids_;
  std::vector<bool> is_collective_;  // by op
  std::vector<ShardSpec> shards_;
  std::map<std::tuple<int, int, bool>, LayerSequences> layers_;  // shard, kind, recomputes whole
  std::map<std::pair<int, VocabularyPart>, LayerSequences> shared_layers_;  // by shard
  std::map<std::tuple<int, VocabularyPart, Phase>, OpSequenceId> shared_op_sequences_;
  // By shard, phase, whether paired, and contents.
  std::map<std::tuple<int, Phase, bool, std::vector<int>>, OpSequenceId> pass_op_sequences_;
  std::map<OpId, OpSequenceId> single_op_sequences_;
  std::map<std::vector<OpId>, OpSequenceId> listed_op_sequences_;
};

}  // namespace stagecraft
