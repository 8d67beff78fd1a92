#include "tools/validation/row_memory.h"

#include <string_view>

namespace stagecraft {
namespace {

// CUBLAS_WORKSPACE_CONFIG=:4096:8, which deterministic algorithms need (PyTorch,
// torch.use_deterministic_algorithms; Megatron-LM, --deterministic-mode).
constexpr Bytes kDeterministicBlasWorkspace(8 * 4096 << 10);

}  // namespace

bool HasFlag(const MeasuredRow& row, const std::string& flag) {
  constexpr std::string_view kBegin = "flags: ";
  const size_t begin = row.notes.find(kBegin);
  if (begin == std::string::npos) return false;
  const size_t end = row.notes.find(';', begin);
  const size_t first = begin + kBegin.size() - 1;  // flags stand between blanks
  const std::string flags = row.notes.substr(first, end - first) + ' ';
  return flags.find(' ' + flag + ' ') != std::string::npos ||
         flags.find(' ' + flag + '=') != std::string::npos;
}

bool HasLocalLayers(const MeasuredRow& row) { return HasFlag(row, "transformer-impl=local"); }

// Megatron's activations are [sequence, batch, hidden]; its data loaders make masks.
FrameworkMemory StackFramework(const std::string& stack) {
  FrameworkMemory framework;
  const bool is_megatron = stack.starts_with("megatron") || stack == "nemo";
  framework.copies_attention_output = framework.makes_attention_mask = is_megatron;
  return framework;
}

FrameworkMemory RowFramework(const MeasuredRow& row) {
  FrameworkMemory framework = StackFramework(row.stack);
  if (!row.stack.starts_with("megatron")) return framework;
  if (HasFlag(row, "no-create-attention-mask-in-dataloader")) {
    framework.makes_attention_mask = false;
  }
  framework.fuses_weight_gradients = !HasFlag(row, "no-gradient-accumulation-fusion");
  framework.has_transformer_engine = HasFlag(row, "transformer-impl=transformer_engine");
  framework.keeps_score_buffer =
      !framework.has_transformer_engine && row.attention_backend == "unfused";
  framework.fuses_softmax = !HasFlag(row, "no-masked-softmax-fusion");
  if (HasFlag(row, "deterministic-mode")) framework.blas_workspace = kDeterministicBlasWorkspace;
  return framework;
}

}  // namespace stagecraft
