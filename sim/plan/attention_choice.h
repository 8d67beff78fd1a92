// AttentionChoice: what the name of an attention says, as users, stacks and tables give it.
#pragma once

#include <optional>
#include <string_view>

#include "costmodel/op.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct AttentionChoice {
  AttentionBackend backend = AttentionBackend::kFlash;
  AttentionKernel kernel = AttentionKernel::kUsual;  // of kFlash
};

inline constexpr const char* kAttentionNames[] = {"flash",  "flash1", "flash2",
                                                  "flash3", "cudnn",  "unfused"};

// "flash" is the fused kernel that the GPU's generation runs. Returns nothing for a name that is
// not one of kAttentionNames.
std::optional<AttentionChoice> FindAttention(std::string_view name);
// Returns the name of a choice.
const char* Name(const AttentionChoice& choice);

}  // namespace stagecraft
