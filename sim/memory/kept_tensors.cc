#include "sim/memory/kept_tensors.h"

#include "sim/memory/tensor_sizes.h"
#include "sim/workload/early_exit.h"

namespace stagecraft {
namespace {

// Whether the backward reads the output of a GEMM: not if it is only added to what the layer hands
// on, which a compiler sees.
bool IsRead(const LayerKind& layer, int v) {
  const std::vector<size_t>& readers = layer.operators.consumers(v);
  return !(readers.size() == 1 && readers.front() + 1 == layer.operators.size());
}

KeptTensor::Use UseOf(const SavedTensor& tensor, const Operator& op) {
  using Use = KeptTensor::Use;
  if (IsInput(tensor, op)) return Use::kInput;
  if (tensor.name == "softmax_dropout_output") return Use::kDroppedScores;
  if (tensor.name == "softmax_dropout_mask") return Use::kScoreMask;
  return tensor.per_key ? Use::kScores : Use::kMade;
}

}  // namespace

Bytes KeptTensors::SavedSize(const SavedTensor& tensor, int v) const {
  SavedTensor kept = tensor;
  if (!framework_.fuses_softmax && tensor.name == "softmax_output") kept.bytes_per_element = 4;
  if (IsKeptIn8Bits(tensor, v)) {
    kept.bytes_per_element = 1;
    return Bytes(KeptIn8Bits(SavedBytes(kept, op(v), spec_).count()));
  }
  return SavedBytes(kept, op(v), spec_);
}

bool KeptTensors::KeepsIn8Bits(int v) const {
  return spec_.keeps_8_bits && layer_.role == LayerRole::kBlock &&
         v < static_cast<int>(FirstExitOperator(layer_));
}

bool KeptTensors::IsKeptIn8Bits(const SavedTensor& tensor, int v) const {
  return KeepsIn8Bits(v) && IsInput(tensor, op(v)) &&
         (tensor.only_for_weights || op(v).part == BlockPart::kActivation);
}

// With a single sample both layouts are the same.
bool KeptTensors::CopiesOutput(int v) const {
  return framework_.copies_attention_output && spec_.micro_batch > 1 &&
         op(v).kind == OperatorKind::kAttention && spec_.attention == AttentionBackend::kFlash;
}

std::vector<KeptTensor> KeptTensors::Of(int v, const OperatorGradients& gradients) const {
  std::vector<KeptTensor> kept;
  for (const SavedTensor& tensor : op(v).saved) {
    const bool is_needed = gradients.of_weights || (gradients.of_input && !tensor.only_for_weights);
    if (is_needed) kept.push_back({UseOf(tensor, op(v)), SavedSize(tensor, v)});
  }
  if (CopiesOutput(v) && gradients.Any()) {
    kept.push_back({KeptTensor::Use::kMade, OutputBytes(op(v), spec_)});
  }
  constexpr int64_t kFp32Bytes = 4;
  if (casts_weights_ && spec_.ElementBytes() < kFp32Bytes && IsProduct(op(v))) {
    kept.push_back({KeptTensor::Use::kMade, WeightBytes(op(v), spec_)});
  }
  return kept;
}

Bytes KeptTensors::WaitingGradient(int v) const {
  const Bytes whole = ProductGradientBytes(op(v), spec_);
  if (!KeepsIn8Bits(v)) return whole;
  return Bytes(KeptIn8Bits(whole.count() / spec_.ElementBytes()));
}

Bytes KeptTensors::BesidesInput() const {
  Bytes kept;
  if (!RepeatsOperators(layer_, spec_)) return kept;
  int64_t gemms = 0;
  for (int v = 0; v < static_cast<int>(layer_.operators.size()); ++v) {
    if (IsProduct(op(v))) kept += GemmOutputs(v, gemms);
    const bool is_fused = spec_.attention == AttentionBackend::kFlash;
    if (op(v).kind == OperatorKind::kAttention && is_fused) kept += MadeByFusedAttention(v);
  }
  return kept;
}

// Returns what stays of the outputs of the GEMMs that one GEMM merges, where so many GEMMs of the
// layer came before; counts these on.
Bytes KeptTensors::GemmOutputs(int v, int64_t& gemms) const {
  int64_t kept = 0;
  for (const int64_t features : MergedMatrices(layer_, v)) {
    if (gemms++ % 2 == 1 || (framework_.compiles && !IsRead(layer_, v))) continue;
    kept += OutputBytes(op(v), spec_).count() * features / op(v).out_features;
  }
  return Bytes(kept);
}

Bytes KeptTensors::MadeByFusedAttention(int v) const {
  Bytes made = OutputBytes(op(v), spec_);
  for (const SavedTensor& tensor : op(v).saved) {
    if (!IsInput(tensor, op(v))) made += SavedSize(tensor, v);
  }
  return made;
}

}  // namespace stagecraft
