#include "sim/shard/attention_steps.h"

#include <algorithm>
#include <cmath>

#include "costmodel/divide.h"
#include "sim/workload/attention_window.h"

namespace stagecraft {
namespace {

class AttentionEmitter {
 public:
  AttentionEmitter(const Operator& o, const ShardSpec& spec, Steps& steps)
      : o_(o), spec_(spec), steps_(steps) {}

  void Forward() {
    if (ReadKeys() == 0) return;
    BeginForward();
    const int64_t heads = AttendedHeads();
    const int64_t queries = AttendedQueries();
    if (spec_.attention == AttentionBackend::kFlash) {
      return Add(FusedAttention(Direction::kForward));
    }
    const int64_t keys = ReadKeys();
    const int64_t scores = heads * queries * keys;
    Multiply(queries, keys, o_.head_size);
    // Scale, mask and softmax in one kernel, dropout with its mask in another.
    Add(Op::Rowwise(OpKind::kSoftmax, spec_.ActivationType(), heads * queries, keys,
                    spec_.Moved(scores * 2 * spec_.ElementBytes())));
    Add(Op::Elementwise(spec_.Moved(scores * (2 * spec_.ElementBytes() + 1))));
    Multiply(queries, o_.head_size, keys);
  }

  void Backward() {
    if (ReadKeys() == 0) return;
    const bool is_fused = spec_.attention == AttentionBackend::kFlash;
    if (!is_fused && spec_.recompute == Recompute::kSelective) Forward();
    BeginBackward();
    const int64_t heads = AttendedHeads();
    const int64_t queries = AttendedQueries();
    const int64_t keys = ReadKeys();
    if (is_fused) {
      Add(FusedAttention(Direction::kBackward));
    } else {
      const int64_t scores = heads * queries * keys;
      Multiply(queries, keys, o_.head_size);  // of probabilities
      Multiply(keys, o_.head_size, queries);  // of values
      Add(Op::Elementwise(spec_.Moved(scores * (5 * spec_.ElementBytes() + 1)), 2));
      Multiply(queries, o_.head_size, keys);  // of queries
      Multiply(keys, o_.head_size, queries);  // of keys
    }
    EndBackward();
  }

 private:
  void Add(const Op& op, uint8_t flags = 0) { steps_.push_back({op, flags}); }

  // Adds a product for every head; rows are those of a head or of its scores.
  void Multiply(int64_t m, int64_t n, int64_t k) {
    Add(Op::GemmOfRows(spec_.ActivationType(), m, n, k, AttendedHeads(),
                       {o_.head_size, ReadKeys()}));
  }

  Op FusedAttention(Direction direction) const {
    Op op = Op::Attention(spec_.ActivationType(), direction, AttendedHeads(), AttendedQueries(),
                          ReadKeys(), o_.head_size, o_.causal);
    // cuDNN's kernel is the usual one, and is measured under that name.
    const bool is_cudnn = spec_.attention_kernel == AttentionKernel::kCudnn;
    op.attention_kernel = is_cudnn ? AttentionKernel::kUsual : spec_.attention_kernel;
    op.sequences = spec_.micro_batch;
    const int64_t kv = spec_.micro_batch * DivideUp(o_.kv_heads, spec_.tensor);
    op.kv_batch = std::min(op.batch, IsUlysses() ? DivideUp(kv, spec_.context) : kv);
    if (HasWindow(o_, spec_.KeysOf(o_))) CutIntoBlocks(op);
    return op;
  }
  // With a window, each block of as many queries attends by itself to the keys of its window: half
  // of (queries x n) is then what it sees, as in causal attention over all keys, and every block
  // reads its own keys.
  void CutIntoBlocks(Op& op) const {
    const double mean = MeanCausalKeys(o_, static_cast<double>(spec_.KeysOf(o_)));
    const int64_t blocks = std::max<int64_t>(1, op.m / WindowOf(o_));
    op.m = DivideUp(op.m, blocks);
    op.n = std::max<int64_t>(1, std::llround(2 * o_.score_density * mean));
    op.batch *= blocks;
    op.kv_batch *= blocks;
    op.sequences *= blocks;
  }
  // An indexer (decoder_parts.h) has all of its heads on every rank of the tensor group.
  int64_t LocalHeads() const {
    const int degree = o_.causal && o_.split == Split::kTokens ? 1 : spec_.tensor;
    return spec_.micro_batch * DivideUp(o_.heads, degree);
  }
  int64_t Queries() const { return std::max<int64_t>(1, spec_.RowsOf(o_) / spec_.micro_batch); }
  int64_t ReadKeys() const { return spec_.ReadKeysOf(o_); }

  // Ulysses divides the heads instead of the rows during attention.
  bool IsUlysses() const {
    return spec_.context > 1 && spec_.context_exchange == ContextExchange::kUlysses;
  }
  int64_t AttendedHeads() const {
    return IsUlysses() ? DivideUp(LocalHeads(), spec_.context) : LocalHeads();
  }
  int64_t AttendedQueries() const { return IsUlysses() ? Queries() * spec_.context : Queries(); }

  void AddContext(OpKind kind, int64_t elements, uint8_t flags = 0) {
    Add(Op::Collective(kind, Bytes(elements * spec_.ElementBytes()), spec_.context_fabric),
        static_cast<uint8_t>(kContextGroup | flags));
  }
  // The elements of keys and values of the whole sequence on one rank.
  int64_t KeyValueElements() const {
    return spec_.micro_batch * spec_.KeysOf(o_) * 2 * DivideUp(o_.kv_heads, spec_.tensor) *
           o_.head_size;
  }
  // Exchanges rows for heads: queries, keys and values go one way before attention, the output goes
  // the other way after it, and the gradients in the backward do the reverse.
  void ExchangeHeads() {
    const int64_t rows = spec_.micro_batch * Queries();
    const int64_t kv = 2 * DivideUp(o_.kv_heads, spec_.tensor);
    const int64_t heads = DivideUp(o_.heads, spec_.tensor);
    AddContext(OpKind::kAllToAll, rows * (heads + kv) * o_.head_size);
    AddContext(OpKind::kAllToAll, rows * heads * o_.head_size);
  }
  // Adds what must have arrived before the GEMMs, or travels beside them.
  void BeginForward() {
    if (spec_.context == 1) return;
    if (IsUlysses()) return ExchangeHeads();
    const bool is_ring = spec_.context_exchange == ContextExchange::kRing;
    AddContext(OpKind::kAllGather, KeyValueElements(), is_ring ? kOverlapsNext : 0);
  }
  // A ring also carries the gradients of keys and values: twice the bytes.
  void BeginBackward() {
    if (spec_.context == 1) return;
    if (IsUlysses()) return ExchangeHeads();
    const bool is_ring = spec_.context_exchange == ContextExchange::kRing;
    AddContext(OpKind::kAllGather, (is_ring ? 2 : 1) * KeyValueElements(),
               is_ring ? kOverlapsNext : 0);
  }
  void EndBackward() {
    if (spec_.context == 1 || spec_.context_exchange != ContextExchange::kGather) return;
    AddContext(OpKind::kReduceScatter, KeyValueElements());
  }

  const Operator& o_;
  const ShardSpec& spec_;
  Steps& steps_;
};

}  // namespace

void AppendAttentionForward(const Operator& op, const ShardSpec& spec, Steps& steps) {
  AttentionEmitter(op, spec, steps).Forward();
}

void AppendAttentionBackward(const Operator& op, const ShardSpec& spec, Steps& steps) {
  AttentionEmitter(op, spec, steps).Backward();
}

}  // namespace stagecraft
