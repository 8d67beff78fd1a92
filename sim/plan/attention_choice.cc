#include "sim/plan/attention_choice.h"

namespace stagecraft {

std::optional<AttentionChoice> FindAttention(std::string_view name) {
  if (name == "flash") return AttentionChoice{};
  if (name == "unfused") return AttentionChoice{AttentionBackend::kUnfused};
  for (const AttentionKernel kernel : {AttentionKernel::kFlash1, AttentionKernel::kFlash2,
                                       AttentionKernel::kFlash3, AttentionKernel::kCudnn}) {
    if (name == Name(kernel)) return AttentionChoice{AttentionBackend::kFlash, kernel};
  }
  return std::nullopt;
}

const char* Name(const AttentionChoice& choice) {
  if (choice.backend == AttentionBackend::kUnfused) return "unfused";
  return choice.kernel == AttentionKernel::kUsual ? "flash" : Name(choice.kernel);
}

}  // namespace stagecraft
