// The flags of other tools that ours stand for.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// Returns the end of a sentence about an unknown flag that Megatron-LM, DeepSpeed, torchtitan,
// torchrun or Hugging Face's trainer has: "here it is --tp", or "here --model says it" if it is a
// part of what one of ours says, or says it by another number. Empty if none of the flags in
// `known`, such as "--tp", stands for it. Case, and whether words are joined by '-' or '_', do not
// matter.
std::string OwnFlagFor(const std::string& flag, const std::vector<std::string>& known);

}  // namespace stagecraft
