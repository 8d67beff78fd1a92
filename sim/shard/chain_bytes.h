// What operations move that code launches one by one where libraries have one kernel for all.
#pragma once

#include <cstdint>

#include "costmodel/op.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns how many features of a row such an operator makes, unsharded. Precondition: it is a
// chain.
int64_t ChainFeatures(const Operator& op);

// Returns the bytes that the operations of a chain read and write for each feature, if tensors have
// elements of `element_bytes`. What is computed in 32 bits is cast from these and back. With
// `autocasts` (torch.autocast) norms have inputs of 32 bits, and powers compute in 32 bits.
//
// The operations are those of Transformers (modeling_llama.py: LlamaRMSNorm, rotate_half, LlamaMLP;
// activations.py: NewGELUActivation), and of their backward in PyTorch. Precondition: not kNone.
int64_t ChainBytes(KernelChain chain, Direction direction, int element_bytes, bool autocasts);

}  // namespace stagecraft
