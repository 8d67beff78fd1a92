#include "sim/memory/layer_tensors.h"

#include <algorithm>
#include <utility>

#include "sim/memory/caching_allocator.h"
#include "sim/memory/kept_tensors.h"
#include "sim/memory/tensor_sizes.h"
#include "sim/workload/early_exit.h"
#include "sim/workload/layer_gradients.h"

namespace stagecraft {
namespace {

constexpr int kNone = -1;
constexpr int64_t kWide = 4;  // bytes of a number of 32 bits

// Records the events of a pass; knows the size of every tensor and whether it exists.
class Recorder {
 public:
  int NewTensor(Bytes size, TensorRole role) {
    tensors_.push_back({CachingAllocator::Rounded(size).count(), role});
    return static_cast<int>(tensors_.size()) - 1;
  }
  void Begin(PassTensors pass = {}) { pass_ = std::move(pass); }
  void NextStep() { ++pass_.steps; }
  // Making a tensor that exists and dropping one that does not have no effect, nor has either call
  // for kNone.
  void Make(int tensor) { Change(tensor, true); }
  void Drop(int tensor) { Change(tensor, false); }
  int MakeTemporary(Bytes size) {
    const int tensor = NewTensor(size, TensorRole::kWorkspace);
    Make(tensor);
    return tensor;
  }
  bool IsAlive(int tensor) const { return tensor != kNone && tensors_[tensor].is_alive; }
  PassTensors Take() { return std::move(pass_); }

  // Renumbers the tensors of `layer` so that those that live from pass to pass come first.
  void Number(LayerTensors& layer) const {
    std::vector<int32_t> number(tensors_.size());
    for (const TensorRole role :
         {TensorRole::kActivation, TensorRole::kWorkspace, TensorRole::kGradient}) {
      for (size_t t = 0; t < tensors_.size(); ++t) {
        if (tensors_[t].role == role) number[t] = layer.tensors++;
      }
      if (role == TensorRole::kActivation) layer.kept = layer.tensors;
    }
    const auto renumber = [&](PassTensors& pass) {
      for (TensorEvent& event : pass.events) event.tensor = number[event.tensor];
    };
    for (PassTensors& pass : layer.passes) renumber(pass);
    renumber(layer.repeated);
  }

 private:
  struct Tensor {
    int64_t size = 0;
    TensorRole role = TensorRole::kWorkspace;
    bool is_alive = false;
  };

  void Change(int id, bool is_made) {
    if (id == kNone) return;
    Tensor& tensor = tensors_[id];
    if (tensor.size == 0 || tensor.is_alive == is_made) return;
    tensor.is_alive = is_made;
    pass_.events.push_back({.change = is_made ? tensor.size : -tensor.size,
                            .tensor = id,
                            .step = pass_.steps,
                            .role = tensor.role});
  }

  PassTensors pass_;
  std::vector<Tensor> tensors_;
};

class Tracer {
 public:
  Tracer(const LayerKind& layer, const ShardSpec& spec, const FrameworkMemory& framework,
         const TraceOptions& options)
      : layer_(layer),
        spec_(spec),
        framework_(framework),
        options_(options),
        gradients_(GradientsOf(layer)),
        count_(static_cast<int>(layer.operators.size())),
        exit_(static_cast<int>(FirstExitOperator(layer))),
        recomputes_all_(RecomputesWhole(layer, spec) || RepeatsOperators(layer, spec)),
        kept_(layer, spec, framework, options.has_narrow_weights) {
    for (int v = 0; v < count_; ++v) AddOperator(v);
    CountGradients();
    if (options.keeps_output) {
      output_ = recorder_.NewTensor(BoundaryBytes(layer, spec), TensorRole::kActivation);
    }
    if (recomputes_all_ && options.keeps_input) {
      const Bytes kept = BoundaryBytes(layer, spec) + kept_.BesidesInput();
      checkpoint_ = recorder_.NewTensor(kept, TensorRole::kActivation);
    }
  }

  LayerTensors Trace(bool has_no_backward) {
    LayerTensors layer;
    const auto run = [&](Phase phase, auto body) {
      recorder_.Begin();
      body();
      layer.passes[static_cast<size_t>(phase)] = recorder_.Take();
    };
    const auto forward = [&] {
      Forward(has_no_backward || recomputes_all_);
      if (!has_no_backward) recorder_.Make(output_);
    };
    if (!layer_.is_cached) run(Phase::kForward, forward);
    if (!has_no_backward) {
      run(Phase::kBackward, [&] { Backward(false, layer); });
      recorder_.Begin();
      forward();  // for the other kind of backward
      run(Phase::kBackwardInput, [&] { Backward(true, layer); });
      run(Phase::kBackwardWeight, [&] { Weights(); });
    }
    recorder_.Number(layer);
    return layer;
  }

 private:
  struct Node {
    std::vector<int> inputs;     // saved tensors that the operator reads
    std::vector<int> others;     // saved tensors that it makes: masks, statistics
    std::vector<int> scores;     // those of `others` with one row per key
    int dropped_scores = kNone;  // of `scores`: the output of dropout, and
    int score_mask = kNone;      // its mask
    std::vector<int> operands;   // vertices, ascending
    std::vector<int> readers;    // vertices
    int output = kNone;          // exists only if no reader keeps it as its input
    int gradient = kNone;        // of the output
    int kept_gradient = kNone;   // the same, if a weight gradient waits for it
    int64_t parameters = 0;      // those of which its backward makes the gradient
  };

  const Operator& op(int v) const { return layer_.operators[v]; }

  void AddOperator(int v) {
    Node& node = nodes_.emplace_back();
    for (const KeptTensor& tensor : kept_.Of(v, gradients_[v])) AddKept(tensor, node);
    if (IsProduct(op(v))) {
      node.kept_gradient = recorder_.NewTensor(kept_.WaitingGradient(v), TensorRole::kActivation);
    }
    for (const size_t operand : layer_.operators.producers(v)) {
      node.operands.push_back(static_cast<int>(operand));
      nodes_[operand].readers.push_back(v);
    }
  }

  void AddKept(const KeptTensor& tensor, Node& node) {
    using Use = KeptTensor::Use;
    const int id = recorder_.NewTensor(tensor.size, TensorRole::kActivation);
    if (tensor.use == Use::kInput) {
      node.inputs.push_back(id);
      return;
    }
    node.others.push_back(id);
    if (tensor.use != Use::kMade) node.scores.push_back(id);
    if (tensor.use == Use::kDroppedScores) node.dropped_scores = id;
    if (tensor.use == Use::kScoreMask) node.score_mask = id;
  }

  // Leaves out the parameters that are tied to another layer, which makes their gradient. They are
  // the layer's first ones, or those of its exit.
  void CountGradients() {
    int64_t tied = options_.tied;
    for (int i = 0; i < count_; ++i) {
      const int v = (exit_ + i) % count_;
      const int64_t all = WeightBytes(op(v), spec_).count() / spec_.ElementBytes();
      const int64_t left_out = std::min(all, tied);
      tied -= left_out;
      nodes_[v].parameters = all - left_out;
    }
  }

  // Whether the gradient of an operator's weights is a GEMM that a later pass runs.
  bool WaitsForWeights(int v, bool is_split) const {
    return is_split && IsProduct(op(v)) && gradients_[v].of_weights;
  }

  void MakeAll(const std::vector<int>& tensors) {
    for (const int tensor : tensors) recorder_.Make(tensor);
  }
  void DropAll(const std::vector<int>& tensors) {
    for (const int tensor : tensors) recorder_.Drop(tensor);
  }

  // Makes what operators read from the layer before, or only the checkpoint, if there is one, since
  // it is that input.
  void BeginForward() {
    recorder_.Make(checkpoint_);
    if (checkpoint_ != kNone) return;
    for (const Node& node : nodes_) {
      if (node.operands.empty()) MakeAll(node.inputs);
    }
  }

  // Makes v's output: as the input of those readers that keep it, or else for as long as it is
  // read.
  void MakeOutput(int v) {
    const std::vector<int> inputs = InputsFrom(v);
    MakeAll(inputs);
    nodes_[v].output = !inputs.empty() ? kNone : recorder_.MakeTemporary(OutputBytes(op(v), spec_));
  }

  void DropOutputsReadLastBy(int v) {
    for (const int operand : nodes_[v].operands) {
      if (nodes_[operand].readers.back() == v) recorder_.Drop(nodes_[operand].output);
    }
  }

  void Forward(bool drops_all) {
    BeginForward();
    for (int v = 0; v < count_; ++v) {
      const bool has_buffer =
          framework_.keeps_score_buffer && op(v).kind == OperatorKind::kAttention;
      const int scratch = recorder_.MakeTemporary(
          has_buffer ? Bytes() : ForwardScratch(op(v), spec_) + LossCopy(v));
      MakeOutput(v);
      MakeAll(nodes_[v].others);
      recorder_.Drop(scratch);
      DropOutputsReadLastBy(v);
      DropRepeatedReadLastBy(v);
      if (spec_.recompute == Recompute::kSelective) DropAll(nodes_[v].scores);
      if (drops_all) DropSaved(v);
      recorder_.NextStep();
    }
    for (const Node& node : nodes_) recorder_.Drop(node.output);
  }

  // Drops what the backward computes again, once its last reader has run.
  void DropRepeatedReadLastBy(int v) {
    for (const int operand : nodes_[v].operands) {
      if (!RepeatsPart(layer_, op(operand), spec_)) continue;
      if (nodes_[operand].readers.back() == v) DropAll(InputsFrom(operand));
    }
  }
  // Computes again what operands of v have made.
  void MakeRepeated(int v) {
    for (const int operand : nodes_[v].operands) {
      if (RepeatsPart(layer_, op(operand), spec_)) MakeAll(InputsFrom(operand));
    }
  }
  // Returns the saved tensors in which readers keep the output of an operator.
  std::vector<int> InputsFrom(int v) const {
    std::vector<int> tensors;
    for (const int reader : nodes_[v].readers) {
      if (nodes_[reader].operands.back() != v) continue;
      tensors.insert(tensors.end(), nodes_[reader].inputs.begin(), nodes_[reader].inputs.end());
    }
    return tensors;
  }

  void DropSaved(int v) {
    DropAll(nodes_[v].inputs);
    DropAll(nodes_[v].others);
  }

  void Backward(bool is_split, LayerTensors& layer) {
    int input_gradient = kNone;
    if (count_ > 0) MakeGradient(count_ - 1, BoundaryBytes(layer_, spec_), is_split);
    if (recomputes_all_) Repeat(layer);
    for (int v = count_; v-- > 0;) {
      BackwardThrough(v, is_split, input_gradient);
      recorder_.NextStep();
    }
    recorder_.Drop(input_gradient);
    recorder_.Drop(checkpoint_);
    recorder_.Drop(output_);
  }

  // Records the forward that runs again. It is the same for both kinds of backward, since each
  // begins with one gradient.
  void Repeat(LayerTensors& layer) {
    PassTensors begun = recorder_.Take();
    layer.before_repeated = static_cast<int>(begun.events.size());
    recorder_.Begin();
    Forward(false);
    layer.repeated = recorder_.Take();
    recorder_.Begin(std::move(begun));
  }

  void BackwardThrough(int v, bool is_split, int& input_gradient) {
    Node& node = nodes_[v];
    if (!gradients_[v].Any()) return recorder_.Drop(node.gradient);
    MakeAll(node.scores);  // has an effect only if they are recomputed
    MakeRepeated(v);
    const int scratch = recorder_.MakeTemporary(BackwardScratch(op(v), spec_));
    const int scores = MakeScoreGradients(v);
    const int copy = MakeLossGradients(v);
    for (const int operand : node.operands) {
      if (!gradients_[operand].Any()) continue;
      MakeGradient(operand, OutputBytes(op(operand), spec_), is_split);
    }
    if (op(v).reads_layer_input && layer_.returns_gradient && input_gradient == kNone) {
      input_gradient = recorder_.MakeTemporary(InputBytes(op(v), spec_));
    }
    const bool waits = WaitsForWeights(v, is_split);
    const int weights = waits ? kNone : MakeWeightGradient(v);
    recorder_.Drop(scratch);
    recorder_.Drop(scores);
    recorder_.Drop(copy);
    DropAll(node.others);
    if (!waits) DropAll(node.inputs);
    recorder_.Drop(weights);
    recorder_.Drop(node.gradient);
  }

  // Runs the backward of unfused attention down to the gradient of its scores, which it returns;
  // kNone for other operators. Autograd frees what each of its steps has saved as soon as the step
  // is over: the product of probabilities and values, dropout, softmax.
  int MakeScoreGradients(int v) {
    if (!KeepsScores(op(v), spec_)) return kNone;
    const Node& node = nodes_[v];
    const Bytes size = ScoreBytes(op(v), spec_);
    int gradient = recorder_.MakeTemporary(size);
    if (node.dropped_scores != kNone) {
      recorder_.Drop(node.dropped_scores);
      const int before = recorder_.MakeTemporary(size);
      recorder_.Drop(node.score_mask);
      recorder_.Drop(gradient);
      gradient = before;
    }
    // The fused kernels, which exist for 16 bits, write the gradient of the scores in place of that
    // of the softmax (Megatron-LM, scaled_masked_softmax.h).
    if (framework_.fuses_softmax && spec_.ElementBytes() < kWide) return gradient;
    const int wide = recorder_.MakeTemporary(Bytes(size.count() * kWide / spec_.ElementBytes()));
    recorder_.Drop(gradient);
    DropAll(node.scores);
    return wide;
  }

  // Makes the 32-bit gradients of log-softmax and of the copy of 16-bit logits, and drops what is
  // no longer read once the latter exists. Returns the latter, or else the former, for the caller
  // to drop; kNone if the loss makes neither.
  int MakeLossGradients(int v) {
    if (op(v).kind != OperatorKind::kLoss || framework_.cross_entropy != CrossEntropy::kEager) {
      return kNone;
    }
    const int outer = recorder_.MakeTemporary(WideLogits(v));
    if (spec_.ElementBytes() >= kWide) return outer;
    const int inner = recorder_.MakeTemporary(WideLogits(v));
    DropAll(nodes_[v].others);
    recorder_.Drop(outer);
    return inner;
  }

  // Returns the bytes of a rank's logits in 32 bits, as the loss keeps their softmax.
  Bytes WideLogits(int v) const {
    return op(v).saved.empty() ? Bytes() : SavedBytes(op(v).saved.front(), op(v), spec_);
  }

  // Returns the bytes of the 32-bit copy of 16-bit logits, if the softmax is another tensor.
  Bytes LossCopy(int v) const {
    const bool is_copied = op(v).kind == OperatorKind::kLoss && spec_.ElementBytes() < kWide &&
                           framework_.cross_entropy != CrossEntropy::kInPlace;
    return is_copied ? WideLogits(v) : Bytes();
  }

  void MakeGradient(int v, Bytes size, bool is_split) {
    Node& node = nodes_[v];
    if (recorder_.IsAlive(node.gradient)) return;
    if (WaitsForWeights(v, is_split)) {
      recorder_.Make(node.kept_gradient);
    } else {
      node.gradient = recorder_.MakeTemporary(size);
    }
  }

  int MakeWeightGradient(int v) {
    if (options_.gradient_bytes > 0 && gradients_[v].of_weights) {
      const Bytes size(nodes_[v].parameters * options_.gradient_bytes);
      recorder_.Make(recorder_.NewTensor(size, TensorRole::kGradient));
    }
    const bool is_fused = framework_.fuses_weight_gradients && IsProduct(op(v));
    return is_fused || !gradients_[v].of_weights
               ? kNone
               : recorder_.MakeTemporary(WeightBytes(op(v), spec_));
  }

  void Weights() {
    for (int v = count_; v-- > 0;) {
      if (!WaitsForWeights(v, true)) continue;
      const int weights = MakeWeightGradient(v);
      DropAll(nodes_[v].inputs);
      recorder_.Drop(weights);
      recorder_.Drop(nodes_[v].kept_gradient);
      recorder_.NextStep();
    }
  }

  const LayerKind& layer_;
  const ShardSpec& spec_;
  const FrameworkMemory& framework_;
  const TraceOptions options_;
  const std::vector<OperatorGradients> gradients_;  // by vertex
  const int count_;
  const int exit_;  // the first operator of the layer's exit
  const bool recomputes_all_;
  const KeptTensors kept_;
  Recorder recorder_;
  std::vector<Node> nodes_;
  int checkpoint_ = kNone;
  int output_ = kNone;  // for the next stage
};

}  // namespace

LayerTensors TraceLayer(const LayerKind& layer, const ShardSpec& spec,
                        const FrameworkMemory& framework, bool forward_only,
                        const TraceOptions& options) {
  return Tracer(layer, spec, framework, options).Trace(forward_only || !layer.has_backward());
}

}  // namespace stagecraft
