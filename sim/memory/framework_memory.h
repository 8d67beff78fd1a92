// FrameworkMemory: what a training framework holds besides the tensors of the network, and which
// temporaries its kernels avoid.
#pragma once

#include "costmodel/device.h"
#include "costmodel/units.h"

namespace stagecraft {

// The defaults are those of plain PyTorch with fused accumulation of weight gradients.
struct FrameworkMemory {
  // The workspace of each cuBLAS handle. PyTorch has one handle for the thread that runs forwards
  // and one for autograd's thread. Zero means the default size for the GPU's generation.
  Bytes blas_workspace;
  // Whether TransformerEngine is used, whose GEMMs have a workspace of their own.
  bool has_transformer_engine = false;
  // Whether the kernel of a weight gradient adds to the gradient buffer (Apex, TransformerEngine).
  // Otherwise the gradient is first a tensor of the working precision, as gradients of embeddings
  // always are.
  bool fuses_weight_gradients = true;
  // Whether tokens are the first dimension of activations while fused attention wants samples
  // first, so that its output is kept twice: as it leaves the kernel, and as the projection reads
  // it.
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

// Returns the size of the workspaces of cuBLAS and TransformerEngine on a GPU of this generation.
Bytes LibraryWorkspace(const FrameworkMemory& framework, Generation generation);

// Returns the size of the CUDA context with cuBLAS, cuDNN and NCCL loaded, which lies outside the
// allocator.
Bytes ContextMemory();

// Returns the size of NCCL's buffers for this number of communicators, which also lie outside the
// allocator.
Bytes NcclBuffers(int communicators);

}  // namespace stagecraft
