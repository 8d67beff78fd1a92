// FrameworkMemory: what a training framework holds beside the tensors of the
// network, and which temporaries its kernels avoid.
#pragma once

#include "costmodel/device.h"
#include "costmodel/units.h"

namespace stagecraft {

// Plain PyTorch with fused accumulation of weight gradients, unless told otherwise.
struct FrameworkMemory {
  // Of each cuBLAS handle; PyTorch has one for the thread that runs forwards and
  // one for autograd's. Zero: as the board's generation has it.
  Bytes blas_workspace;
  // TransformerEngine's products have a workspace of their own.
  bool has_transformer_engine = false;
  // The kernel of a weight gradient adds to the gradient buffer (Apex,
  // TransformerEngine). Off: it is a tensor of the working precision first. Those
  // of embeddings always are.
  bool fuses_weight_gradients = true;
  // Activations have rows of tokens first and fused attention wants samples first:
  // its output is kept as it leaves the kernel, and again as the projection reads it.
  bool copies_attention_output = false;
  // Unfused attention writes its scores to a buffer that is never freed
  // (Megatron-core's local DotProductAttention).
  bool keeps_score_buffer = false;
  // Softmax and its mask are one kernel. Off: unfused attention's softmax keeps its
  // output in 32 bits.
  bool fuses_softmax = true;
  // The data loader makes a mask of one byte for every pair of tokens of a sample.
  bool makes_attention_mask = false;
};

// cuBLAS's and TransformerEngine's workspaces on a board.
Bytes LibraryWorkspace(const FrameworkMemory& framework, Generation generation);

// The CUDA context with cuBLAS, cuDNN and NCCL loaded: outside of the allocator.
Bytes ContextMemory();

// NCCL's buffers of so many communicators: outside of the allocator too.
Bytes NcclBuffers(int communicators);

}  // namespace stagecraft
