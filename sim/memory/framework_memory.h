// FrameworkMemory: what a training framework holds besides the tensors of the network, and which
// temporaries its kernels avoid.
#pragma once

#include "costmodel/device.h"
#include "costmodel/units.h"

namespace stagecraft {

// The defaults are those of plain PyTorch with fused accumulation of weight gradients.
struct FrameworkMemory {
  // Of each cuBLAS handle; PyTorch has one for the thread that runs forwards and one for autograd's
  // thread. Zero: the size of the GPU's generation.
  Bytes blas_workspace;
  // Whether there is TransformerEngine, whose GEMMs have a workspace of their own.
  bool has_transformer_engine = false;
  // Whether the kernel of a weight gradient adds to the gradient buffer (Apex, TransformerEngine).
  // Otherwise the gradient is a tensor of the working precision first, as those of embeddings
  // always are.
  bool fuses_weight_gradients = true;
  // Whether activations have rows of tokens first while fused attention wants samples first, so
  // that its output is kept as it leaves the kernel, and again as the projection reads it.
  bool copies_attention_output = false;
  // Whether unfused attention writes its scores to a buffer that is never freed (Megatron-core's
  // local DotProductAttention).
  bool keeps_score_buffer = false;
  // Whether softmax and its mask are one kernel. Otherwise the softmax of unfused attention keeps
  // its output in 32 bits.
  bool fuses_softmax = true;
  // Whether the data loader makes a mask of one byte for every pair of tokens of a sample.
  bool makes_attention_mask = false;
};

// The workspaces of cuBLAS and TransformerEngine on a GPU.
Bytes LibraryWorkspace(const FrameworkMemory& framework, Generation generation);

// The CUDA context with cuBLAS, cuDNN and NCCL loaded; it lies outside of the allocator.
Bytes ContextMemory();

// NCCL's buffers of this number of communicators; they lie outside of the allocator, too.
Bytes NcclBuffers(int communicators);

}  // namespace stagecraft
