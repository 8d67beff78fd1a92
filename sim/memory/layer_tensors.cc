#include "sim/memory/layer_tensors.h"

#include <algorithm>
#include <utility>

#include "costmodel/divide.h"
#include "sim/memory/caching_allocator.h"
#include "sim/memory/tensor_sizes.h"
#include "sim/workload/layer_gradients.h"

namespace stagecraft {
namespace {

constexpr int kNone = -1;

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
    for (const TensorRole role : {TensorRole::kActivation, TensorRole::kWorkspace}) {
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
         bool keeps_input)
      : layer_(layer),
        spec_(spec),
        framework_(framework),
        gradients_(GradientsOf(layer)),
        count_(static_cast<int>(layer.operators.size())),
        recomputes_all_(RecomputesWhole(layer, spec) || RepeatsOperators(layer, spec)) {
    for (int v = 0; v < count_; ++v) AddOperator(v);
    if (recomputes_all_ && keeps_input) {
      const Bytes kept = BoundaryBytes(layer, spec) + KeptOutputs();
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
    const auto forward = [&] { Forward(has_no_backward || recomputes_all_); };
    run(Phase::kForward, forward);
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
    std::vector<int> inputs;    // saved tensors that the operator reads
    std::vector<int> others;    // saved tensors that it makes: masks, statistics
    std::vector<int> scores;    // those of `others` with one row per key
    std::vector<int> operands;  // vertices, ascending
    std::vector<int> readers;   // vertices
    int output = kNone;         // exists only if no reader keeps it as its input
    int gradient = kNone;       // of the output
    int kept_gradient = kNone;  // the same, if a weight gradient waits for it
  };

  const Operator& op(int v) const { return layer_.operators[v]; }

  Bytes SavedSize(const SavedTensor& tensor, int v) const {
    SavedTensor kept = tensor;
    if (!framework_.fuses_softmax && tensor.name == "softmax_output") kept.bytes_per_element = 4;
    if (IsKeptIn8Bits(tensor, v)) {
      kept.bytes_per_element = 1;
      return Bytes(KeptIn8Bits(SavedBytes(kept, op(v), spec_).count()));
    }
    return SavedBytes(kept, op(v), spec_);
  }

  bool IsKeptIn8Bits(const SavedTensor& tensor, int v) const {
    if (!spec_.keeps_8_bits || layer_.role != LayerRole::kBlock) return false;
    return IsInput(tensor, op(v)) &&
           (tensor.only_for_weights || op(v).part == BlockPart::kActivation);
  }

  // With a single sample both layouts are the same.
  bool CopiesOutput(const Operator& op) const {
    return framework_.copies_attention_output && spec_.micro_batch > 1 &&
           op.kind == OperatorKind::kAttention && spec_.attention == AttentionBackend::kFlash;
  }

  // What Recompute::kOperators keeps besides the layer's input: half of the outputs of GEMMs, and
  // what fused attention makes.
  Bytes KeptOutputs() const {
    int64_t kept = 0;
    for (int v = 0; RepeatsOperators(layer_, spec_) && v < count_; ++v) {
      const bool is_fused = spec_.attention == AttentionBackend::kFlash;
      if (IsProduct(op(v))) kept += OutputBytes(op(v), spec_).count() / 2;
      if (op(v).kind != OperatorKind::kAttention || !is_fused) continue;
      kept += OutputBytes(op(v), spec_).count();
      for (const SavedTensor& tensor : op(v).saved) {
        if (!IsInput(tensor, op(v))) kept += SavedSize(tensor, v).count();
      }
    }
    return Bytes(kept);
  }

  void AddOperator(int v) {
    Node& node = nodes_.emplace_back();
    for (const SavedTensor& tensor : op(v).saved) {
      if (!IsNeeded(tensor, v)) continue;
      const int id = recorder_.NewTensor(SavedSize(tensor, v), TensorRole::kActivation);
      if (tensor.per_key) node.scores.push_back(id);
      (IsInput(tensor, op(v)) ? node.inputs : node.others).push_back(id);
    }
    if (CopiesOutput(op(v)) && gradients_[v].Any()) {
      node.others.push_back(
          recorder_.NewTensor(OutputBytes(op(v), spec_), TensorRole::kActivation));
    }
    if (IsProduct(op(v))) {
      Bytes kept = ProductGradientBytes(op(v), spec_);
      if (spec_.keeps_8_bits && layer_.role == LayerRole::kBlock) {
        kept = Bytes(KeptIn8Bits(kept.count() / spec_.ElementBytes()));
      }
      node.kept_gradient = recorder_.NewTensor(kept, TensorRole::kActivation);
    }
    for (const size_t operand : layer_.operators.producers(v)) {
      node.operands.push_back(static_cast<int>(operand));
      nodes_[operand].readers.push_back(v);
    }
  }

  // Whether the backward of an operator reads what it keeps.
  bool IsNeeded(const SavedTensor& tensor, int v) const {
    return gradients_[v].of_weights || (gradients_[v].of_input && !tensor.only_for_weights);
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
      const int scratch =
          recorder_.MakeTemporary(has_buffer ? Bytes() : ForwardScratch(op(v), spec_));
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
  // The saved tensors in which readers keep the output of an operator.
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
    DropAll(node.others);
    if (!waits) DropAll(node.inputs);
    recorder_.Drop(weights);
    recorder_.Drop(node.gradient);
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
  const std::vector<OperatorGradients> gradients_;  // by vertex
  const int count_;
  const bool recomputes_all_;
  Recorder recorder_;
  std::vector<Node> nodes_;
  int checkpoint_ = kNone;
};

}  // namespace

LayerTensors TraceLayer(const LayerKind& layer, const ShardSpec& spec,
                        const FrameworkMemory& framework, bool forward_only, bool keeps_input) {
  return Tracer(layer, spec, framework, keeps_input).Trace(forward_only || !layer.has_backward());
}

}  // namespace stagecraft
