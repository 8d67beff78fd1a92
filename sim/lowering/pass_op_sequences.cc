#include "sim/lowering/pass_op_sequences.h"

#include <cstddef>

#include "sim/pipeline/vocabulary_placement.h"

namespace stagecraft {
namespace {

// What a host calls between the end of a message for which it waits and the first kernel of the
// next pass, in launches of kernels: it makes the tensor of the next message, posts the messages,
// waits for each and for the device, hands the output to the pass, frees what was sent, and starts
// autograd (Megatron-LM's p2p_communication.py and schedules.py, DeepSpeed's pipe/engine.py). The
// number follows from the tables of the Zero Bubble paper, whose steps take about 1 ms for each
// pass longer than its profiled passes and its shares of bubbles say (docs/cost-model.md).
constexpr int kCallsBetweenPasses = 10;

// A host that waits for no message makes these calls while the device computes.
int CallsBetweenPasses(const Plan& plan) {
  return plan.overlap_p2p || plan.stages.size() == 1 ? 0 : kCallsBetweenPasses;
}

// Returns the op sequences of the buckets, in the order in which a pass runs through them.
std::vector<OpSequenceId> BucketOpSequences(LoweringContext& context, const LoweredWorker& worker,
                                            int chunk, Phase phase) {
  const auto buckets = context.buckets.Of(worker.stage, chunk);
  const size_t count = buckets.size();
  std::vector<OpSequenceId> op_sequences;
  op_sequences.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const LayerRange range = buckets[phase == Phase::kForward ? count - 1 - i : i].layers;
    const int calls = op_sequences.empty() ? CallsBetweenPasses(context.plan) : 0;
    op_sequences.push_back(
        context.op_sequences.PassOpSequence(worker.shard, range, phase, Beside::kNothing, calls));
  }
  return op_sequences;
}

// Returns what runs beside a pass of a pair. Megatron-core moves exchanges to a stream of their own
// and leaves all other collectives in that of the computation, which waits for them.
Beside BesidePairs(const Plan& plan, bool hides_exchanges) {
  if (plan.schedule_options.pairs_passes) {
    return hides_exchanges ? Beside::kExchanges : Beside::kNothing;
  }
  return hides_exchanges ? Beside::kPassAndExchanges : Beside::kPass;
}

}  // namespace

PassOpSequences::PassOpSequences(LoweringContext& context, const LoweredWorker& worker)
    : rules_(context.rules), chunks_(context.plan.pass_chunk_count()) {
  const bool hides = !worker.exchange.empty();
  const Beside beside = BesidePairs(context.plan, hides);
  bool is_paired = false;
  for (const Pass& pass : worker.order) {
    is_paired = is_paired || pass.beside_next;
    const auto phase = static_cast<size_t>(pass.phase);
    ChunkOpSequences& op_sequences = chunks_[pass.chunk];
    if (op_sequences.whole[phase] < 0) AddWhole(context, worker, pass);
    if (is_paired && op_sequences.paired[phase] < 0) {
      const LayerRange range = context.plan.stages[worker.stage].chunks[pass.chunk];
      op_sequences.paired[phase] =
          context.op_sequences.PassOpSequence(worker.shard, range, pass.phase, beside);
      if (hides) {
        op_sequences.exchanges[phase] =
            context.op_sequences.ExchangeOpSequence(worker.shard, range, pass.phase);
      }
    }
    is_paired = pass.beside_next;
  }
}

// A share of the vocabulary is one bucket.
void PassOpSequences::AddWhole(LoweringContext& context, const LoweredWorker& worker,
                               const Pass& pass) {
  const Plan& plan = context.plan;
  const auto phase = static_cast<size_t>(pass.phase);
  ChunkOpSequences& op_sequences = chunks_[pass.chunk];
  const bool is_share = pass.chunk >= plan.chunk_count();
  const int calls = CallsBetweenPasses(plan);
  if (is_share) {
    op_sequences.whole[phase] =
        context.op_sequences.SharedOpSequence(worker.shard, PartOf(pass.chunk, plan.chunk_count()),
                                              plan.schedule_options.vocabulary, pass.phase, calls);
  } else {
    op_sequences.whole[phase] = context.op_sequences.PassOpSequence(
        worker.shard, plan.stages[worker.stage].chunks[pass.chunk], pass.phase, Beside::kNothing,
        calls);
  }
  if (!rules_.DividesSome(worker.stage, pass.phase)) return;
  op_sequences.divided[phase] = is_share
                                    ? std::vector{op_sequences.whole[phase]}
                                    : BucketOpSequences(context, worker, pass.chunk, pass.phase);
}

std::span<const OpSequenceId> PassOpSequences::Parts(const LoweredWorker& worker, const Pass& pass,
                                                     bool paired) const {
  const ChunkOpSequences& op_sequences = chunks_[pass.chunk];
  const auto phase = static_cast<size_t>(pass.phase);
  if (IsDivided(worker, pass)) return op_sequences.divided[phase];
  return {paired ? &op_sequences.paired[phase] : &op_sequences.whole[phase], 1};
}

OpSequenceId PassOpSequences::Exchanges(const LoweredWorker& worker, const Pass& pass) const {
  if (pass.chunk >= std::ssize(chunks_) || IsDivided(worker, pass)) return -1;
  return chunks_[pass.chunk].exchanges[static_cast<size_t>(pass.phase)];
}

bool PassOpSequences::IsDivided(const LoweredWorker& worker, const Pass& pass) const {
  if (!rules_.DividesSome(worker.stage, pass.phase)) return false;
  if (rules_.GathersEveryPass(worker.stage)) return true;
  const bool forward = pass.phase == Phase::kForward;
  if (!forward && rules_.ReducesEveryPass(worker.stage)) return true;
  if (!worker.updates.empty()) return worker.CompletesUpdate(pass);
  const Pass& edge = (forward ? worker.first_forward : worker.last_backward)[pass.chunk];
  return pass.phase == edge.phase && pass.micro_batch == edge.micro_batch;
}

}  // namespace stagecraft
