#include "tools/validation/row_memory.h"

namespace stagecraft {
namespace {

// The workspace of CUBLAS_WORKSPACE_CONFIG=:4096:8, which deterministic algorithms need (PyTorch,
// torch.use_deterministic_algorithms; Megatron-LM, --deterministic-mode).
constexpr Bytes kDeterministicBlasWorkspace(8 * 4096 << 10);

}  // namespace

FrameworkMemory RowFramework(const CompletedRow& completed) {
  FrameworkMemory framework = completed.memory;
  if (!completed.megatron_layers) return framework;
  const RowFacts& facts = completed.facts;
  framework.makes_attention_mask = facts.makes_attention_mask.value_or(true);
  framework.fuses_weight_gradients =
      facts.fuses_weight_gradients.value_or(framework.fuses_weight_gradients);
  framework.has_transformer_engine = facts.transformer_engine.value_or(false);
  if (framework.has_transformer_engine || completed.row.attention_backend != "unfused") {
    framework.keeps_score_buffer = false;
  }
  framework.fuses_softmax = facts.fuses_softmax.value_or(true);
  if (facts.deterministic.value_or(false)) framework.blas_workspace = kDeterministicBlasWorkspace;
  return framework;
}

}  // namespace stagecraft
