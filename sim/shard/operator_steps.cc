#include "sim/shard/operator_steps.h"

#include <algorithm>
#include <cmath>

#include "costmodel/divide.h"
#include "sim/shard/attention_steps.h"
#include "sim/shard/chain_bytes.h"
#include "sim/workload/expert_routing.h"

namespace stagecraft {
namespace {

class Emitter {
 public:
  Emitter(const Operator& o, const ShardSpec& spec, Steps& steps)
      : o_(o), spec_(spec), steps_(steps) {}
  Emitter(const Operator& o, const OperatorGradients& gradients, const ShardSpec& spec,
          Steps& steps)
      : o_(o), spec_(spec), steps_(steps), gradients_(gradients) {}

  void Forward() {
    switch (o_.kind) {
      case OperatorKind::kLinear:
        return o_.experts > 0 ? ExpertForward() : LinearForward();
      case OperatorKind::kRecurrent:
        return RecurrentForward();
      case OperatorKind::kConvolution:
        return Convolve();
      case OperatorKind::kAttention:
        return AppendAttentionForward(o_, spec_, steps_);
      case OperatorKind::kDispatch:
        return Dispatch();
      case OperatorKind::kCombine:
        return Combine();
      case OperatorKind::kEmbedding:
        Elementwise(o_.forward_elements);
        if (o_.split == Split::kRow) ReduceOutput(o_.out_features);
        return;
      case OperatorKind::kLoss:
        Elementwise(o_.forward_elements);
        return LossReductions();
      case OperatorKind::kProfiled:
        return Add(Op::Profiled(AllRows(), o_.forward_time));
      case OperatorKind::kNorm:
      case OperatorKind::kElementwise:
        return IsComposed() ? Compose(Direction::kForward) : Elementwise(o_.forward_elements);
    }
  }

  void Backward() {
    if (!gradients_.Any()) return;
    switch (o_.kind) {
      case OperatorKind::kLinear:
        return o_.experts > 0 ? ExpertBackward() : LinearBackward();
      case OperatorKind::kRecurrent:
        return RecurrentBackward();
      case OperatorKind::kConvolution:
        if (gradients_.of_input) Convolve();
        if (gradients_.of_weights) Convolve(kWeightGradient);
        return;
      case OperatorKind::kAttention:
        return AppendAttentionBackward(o_, spec_, steps_);
      case OperatorKind::kDispatch:
        return Combine();
      case OperatorKind::kCombine:
        return Dispatch();
      case OperatorKind::kProfiled:
        return Add(Op::Profiled(AllRows(), o_.backward_time));
      case OperatorKind::kEmbedding:
        if (gradients_.of_weights) Elementwise(o_.backward_elements);
        return;
      default:
        return IsComposed() ? Compose(Direction::kBackward) : Elementwise(o_.backward_elements);
    }
  }

 private:
  void Add(const Op& op, uint8_t flags = 0) { steps_.push_back({op, flags}); }

  // A product of `m` rows of `k` and a matrix that makes `n` features of each.
  void Product(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
    if (m == 0) return;
    if (o_.nonzeros) {
      return Add(
          Op::Sparse(spec_.ActivationType(), Direction::kForward, m, n, k, Entries(), batch));
    }
    Add(Op::GemmOfRows(spec_.precision, m, n, k, batch, {RowIn(), RowOut()}));
  }
  // The gradient of `m` outputs of `n` inputs over `k` rows.
  void WeightGradient(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
    if (!gradients_.of_weights || k == 0) return;
    if (o_.nonzeros) {
      Add(Op::Sparse(spec_.ActivationType(), Direction::kBackward, k, m, n, Entries(), batch),
          kWeightGradient);
      return AddToSum(batch * Entries());
    }
    Add(Op::GemmOfRows(spec_.precision, m, n, k, batch, {RowIn(), RowOut()}), kWeightGradient);
    AddToSum(batch * m * n);
  }
  // Adds a weight gradient to that of earlier micro-batches: a kernel of its own reads it, and
  // reads and writes the sum; or the GEMM reads and writes the sum in place of the gradient, which
  // moves no more if the sum is half as wide.
  void AddToSum(int64_t elements) {
    const int sum = 2 * spec_.gradient_bytes;
    if (sum == 0) return;
    const bool is_apart = spec_.adds_gradients_apart;
    const int more = is_apart ? sum + spec_.ElementBytes() : sum - spec_.ElementBytes();
    const int64_t bytes = elements * more;
    if (bytes <= 0) return;
    Add(Op::Elementwise(Bytes(bytes), is_apart ? 1 : 0), kWeightGradient);
  }
  // GEMMs of 8 or 4 bits take 16-bit tensors through a cast.
  void Cast(int64_t elements) {
    if (o_.nonzeros) return;  // sparse products have 16 bits
    const CastWork cast = CastOf(spec_.precision, spec_.fp8_recipe, elements);
    if (cast.kernels > 0) Add(Op::Elementwise(cast.bytes, cast.kernels));
  }

  // With autocast what a norm makes is cast for the GEMM that reads it, and its gradient back.
  void CastStream(int64_t rows) {
    if (!spec_.casts_activations || o_.split != Split::kColumn) return;
    Add(Op::Elementwise(Bytes(rows * o_.in_features * (4 + spec_.ElementBytes()))));
  }

  int64_t AllRows() const { return spec_.RowsOf(o_); }
  // Operators that are not divided see only a rank's share of the rows.
  int64_t OwnRows() const { return o_.split == Split::kTokens ? spec_.SplitRowsOf(o_) : AllRows(); }
  int64_t Entries() const { return OperatorEntries(o_, spec_.tensor); }
  int64_t LocalIn() const {
    return o_.split == Split::kRow ? DivideUp(o_.in_features, spec_.tensor) : o_.in_features;
  }
  // The lengths of rows in memory, as far as they are known not to be padded: a framework that
  // divides features pads them (Megatron-LM: --make-vocab-size-divisible-by); 0 is a multiple of
  // all.
  int64_t RowIn() const { return o_.split == Split::kRow && spec_.tensor > 1 ? 0 : o_.in_features; }
  int64_t RowOut() const {
    return o_.split == Split::kColumn && spec_.tensor > 1 ? 0 : o_.out_features;
  }
  int64_t LocalOut() const {
    return o_.split == Split::kColumn ? DivideUp(o_.out_features, spec_.tensor) : o_.out_features;
  }

  void Collective(OpKind kind, int64_t features, uint8_t flags) {
    if (spec_.tensor == 1) return;
    Add(Op::Collective(kind, Bytes(AllRows() * features * spec_.ElementBytes()),
                       spec_.tensor_fabric),
        flags);
  }
  // Partial sums of a row-split output become whole (or split by rows).
  void ReduceOutput(int64_t features, uint8_t flags = 0) {
    Collective(spec_.sequence_parallel ? OpKind::kReduceScatter : OpKind::kAllReduce, features,
               flags);
  }
  void GatherRows(int64_t features, uint8_t flags = 0) {
    if (spec_.sequence_parallel) Collective(OpKind::kAllGather, features, flags);
  }

  void Elementwise(int64_t elements) {
    if (elements == 0) return;
    const int64_t per_row =
        o_.split == Split::kColumn ? DivideUp(elements, spec_.tensor) : elements;
    const Bytes bytes = spec_.Moved(OwnRows() * RowBytes(per_row));
    if (o_.kind == OperatorKind::kNorm && o_.in_features > 0) {
      return Add(Op::Rowwise(OpKind::kNorm, spec_.ActivationType(), OwnRows(), o_.in_features,
                             bytes, o_.kernels));
    }
    Add(Op::Elementwise(bytes, o_.kernels));
  }

  bool IsComposed() const { return spec_.composes_operators && o_.chain != KernelChain::kNone; }
  // Its operations are together as long as one that moves what all of them do.
  void Compose(Direction direction) {
    const int64_t features = ChainFeatures(o_);
    if (features == 0) return;
    const int64_t own = o_.split == Split::kColumn ? DivideUp(features, spec_.tensor) : features;
    const int64_t bytes =
        ChainBytes(o_.chain, direction, spec_.ElementBytes(), spec_.casts_activations);
    Add(Op::Elementwise(Bytes(OwnRows() * own * bytes), o_.kernels));
  }

  // With autocast norms and the stream of residuals have 32 bits, but not the branch that is added.
  int64_t RowBytes(int64_t elements) const {
    const int64_t bytes = elements * spec_.ElementBytes();
    if (!spec_.casts_activations) return bytes;
    if (o_.kind == OperatorKind::kNorm) return 4 * elements;
    const bool is_residual = o_.kind == OperatorKind::kElementwise && o_.split == Split::kTokens;
    return is_residual ? std::max(bytes, 4 * elements - 2 * o_.in_features) : bytes;
  }

  // Vocabulary-split cross-entropy: maximum, sum of exponentials and the
  // target's logit, one 32-bit number per row each (Megatron-LM).
  void LossReductions() {
    if (spec_.tensor == 1) return;
    for (int i = 0; i < 3; ++i) {
      Add(Op::Collective(OpKind::kAllReduce, Bytes(4 * AllRows()), spec_.tensor_fabric));
    }
  }

  // With overlapped collectives the GEMM and its gather or reduction run side by side, piece by
  // piece.
  void LinearForward() {
    const int64_t rows = OwnRows();
    const bool overlaps = spec_.overlap_tensor;
    CastStream(rows);
    Cast(rows * LocalIn());
    if (o_.split == Split::kColumn) GatherRows(o_.in_features, overlaps ? kOverlapsNext : 0);
    if (o_.split == Split::kRow && overlaps) ReduceOutput(o_.out_features, kOverlapsNext);
    Product(rows, LocalOut(), LocalIn());
    if (o_.split == Split::kRow && !overlaps) ReduceOutput(o_.out_features);
  }

  // Input gradient, then weight gradient. The gathering of the input that the
  // weight gradient needs runs beside the input gradient, the reduction of the
  // input gradient beside the weight gradient (Korthikanti et al., 2022,
  // section 4.2.2, and Megatron-LM's asynchronous reduction), unless the framework
  // waits for both.
  void LinearBackward() {
    const int64_t rows = OwnRows();
    const bool is_column = o_.split == Split::kColumn;
    CastStream(rows);
    Cast(rows * LocalOut());
    if (o_.split == Split::kRow) {
      GatherRows(o_.out_features, spec_.overlap_tensor ? kOverlapsNext : 0);
    }
    const auto [of_input, of_weights] = gradients_;
    const bool waits = spec_.exposes_tensor_gradients && !spec_.overlap_tensor;
    const uint8_t beside_next = waits ? 0 : kOverlapsNext;
    if (is_column && of_weights) GatherRows(o_.in_features, of_input ? beside_next : 0);
    if (of_input) Product(rows, LocalIn(), LocalOut());
    if (is_column && of_input) ReduceOutput(o_.in_features, of_weights ? beside_next : 0);
    WeightGradient(LocalOut(), LocalIn(), rows);
  }

  // A time step needs the one before: there are as many GEMMs as rows in a sample. In the backward
  // they take the gradients back through the steps, which the weight gradient needs, too.
  void RecurrentForward() {
    Op op = Op::Gemm(spec_.precision, AllRows(), LocalOut(), LocalIn());
    op.kernels = StepsOfSample();
    Add(op);
  }
  void RecurrentBackward() {
    Op op = Op::Gemm(spec_.precision, AllRows(), LocalIn(), LocalOut());
    op.kernels = StepsOfSample();
    Add(op);
    WeightGradient(LocalOut(), LocalIn(), AllRows());  // all time steps at once
  }
  int StepsOfSample() const {
    const int64_t steps = AllRows() / std::max<int64_t>(1, spec_.micro_batch);
    return static_cast<int>(std::max<int64_t>(1, steps));
  }

  // Forward, weight gradient and input gradient have equally many multiplications; the input
  // gradient writes what the forward read.
  void Convolve(uint8_t flags = 0) {
    const int64_t rows = OwnRows();
    const int64_t read = spec_.micro_batch * ShareUp(o_.row_share, o_.input_elements);
    const int64_t elements = read / spec_.context + rows * o_.out_features + o_.parameters;
    // Vector units take the algorithm with the fewest multiplications.
    const bool saves = spec_.precision == DType::kFp32 && SuitsWinograd(o_);
    const double k = static_cast<double>(o_.in_features) / (saves ? kWinogradSaving : 1);
    Add(Op::Convolution(spec_.precision, o_.groups, rows, DivideUp(o_.out_features, o_.groups),
                        std::max<int64_t>(1, std::llround(k)),
                        Bytes(elements * spec_.ElementBytes())),
        flags);
  }

  // The rows on which a rank's experts work: with even routing as many as its own tokens send out;
  // with uneven routing the fullest rank decides.
  int64_t LocalExperts() const { return DivideUp(o_.experts, spec_.expert); }
  int64_t RowsPerExpert() const {
    const double routed = static_cast<double>(AllRows()) * o_.experts_per_token;
    return static_cast<int64_t>(
        std::ceil(routed * spec_.ExpertImbalanceOf(o_) / static_cast<double>(LocalExperts())));
  }
  // Returns how many experts a GEMM has: all of them, or one if each has a GEMM of its own.
  int64_t Grouped() const { return spec_.multiplies_experts_apart ? 1 : LocalExperts(); }
  void ExpertForward() {
    const int64_t rows = RowsPerExpert();
    Cast(LocalExperts() * rows * LocalIn());
    for (int64_t done = 0; done < LocalExperts(); done += Grouped()) {
      Product(rows, LocalOut(), LocalIn(), Grouped());
    }
  }
  void ExpertBackward() {
    const int64_t rows = RowsPerExpert();
    Cast(LocalExperts() * rows * LocalOut());
    for (int64_t done = 0; gradients_.of_input && done < LocalExperts(); done += Grouped()) {
      Product(rows, LocalIn(), LocalOut(), Grouped());
    }
    for (int64_t done = 0; done < LocalExperts(); done += Grouped()) {
      WeightGradient(LocalOut(), LocalIn(), rows, Grouped());
    }
  }

  // Rows of every rank go to the ranks of their experts; there the tensor group
  // gathers what each of its ranks received.
  void Dispatch() {
    Exchange(spec_.expert_exchange.dispatches_8_bits);
    GatherRows(o_.in_features * o_.experts_per_token);
  }
  void Combine() {
    ReduceOutput(o_.in_features * o_.experts_per_token);
    Exchange(/*has_8_bits=*/false);
  }
  void Exchange(bool has_8_bits) {
    if (spec_.expert == 1) return;
    if (spec_.expert_exchange.sends == ExpertSends::kEveryCopy) {
      return AllToAll(o_.experts_per_token, has_8_bits, spec_.expert_fabric, kExpertGroup);
    }
    // Rows are passed on inside the nodes while others still come from outside.
    const int nodes = spec_.expert_rail_fabric.ranks;
    const bool stays_apart = spec_.expert_node_fabric.ranks == 1;  // one rank in every node
    if (nodes > 1) {
      AllToAll(ExpectedPlaces(o_, nodes), has_8_bits, spec_.expert_rail_fabric,
               stays_apart ? kExpertGroup : kExpertGroup | kOverlapsNext);
    }
    if (stays_apart) return;
    AllToAll(ExpectedPlaces(o_, spec_.expert), has_8_bits, spec_.expert_node_fabric, kExpertGroup);
  }
  void AllToAll(double copies, bool has_8_bits, const Fabric& fabric, int flags) {
    const int64_t row =
        has_8_bits ? KeptIn8Bits(o_.in_features) : o_.in_features * spec_.ElementBytes();
    const double bytes =
        copies * static_cast<double>(spec_.SplitRowsOf(o_) * row) * spec_.ExpertImbalanceOf(o_);
    Add(Op::Collective(OpKind::kAllToAll, Bytes(std::llround(bytes)), fabric),
        static_cast<uint8_t>(flags));
  }

  const Operator& o_;
  const ShardSpec& spec_;
  Steps& steps_;
  OperatorGradients gradients_;
};

}  // namespace

void AppendForward(const Operator& op, const ShardSpec& spec, Steps& steps) {
  if (spec.RowsOf(op) > 0) Emitter(op, spec, steps).Forward();
}

void AppendBackward(const Operator& op, const OperatorGradients& gradients, const ShardSpec& spec,
                    Steps& steps) {
  if (spec.RowsOf(op) > 0) Emitter(op, gradients, spec, steps).Backward();
}

}  // namespace stagecraft
