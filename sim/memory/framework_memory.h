// FrameworkMemory: what a training framework holds besides the tensors of the network, and which
// temporaries its kernels avoid.
#pragma once

#include <cstdint>

#include "costmodel/device.h"
#include "costmodel/units.h"

namespace stagecraft {

// CrossEntropy says which 32-bit tensors of logits a cross-entropy makes besides the softmax that
// it keeps. They have as many elements as the logits of a rank.
enum class CrossEntropy {
  kInPlace,  // none: the copy of the logits becomes the softmax (Megatron-core)
  kCopies,   // the copy of 16-bit logits lives beside it (Megatron-LM of 2021: logits.exp())
  kEager,    // torch.nn.functional.cross_entropy: that copy, and in the backward the gradients of
             // log-softmax and, of 16-bit logits, of the copy
};
const char* Name(CrossEntropy loss);  // "in-place", "copies", "eager"

// UpdateKind says what an optimizer step allocates, when activations are gone.
enum class UpdateKind {
  kFused,      // nothing: one kernel reads and writes the states
  kForeach,    // torch.optim with foreach: the square roots of the second moments, 32 bits each
  kDeepspeed,  // flat copies of gradients: buckets that are reduced, and 32-bit ones for the update
};
const char* Name(UpdateKind update);  // "fused", "foreach", "deepspeed"

// The defaults are those of plain PyTorch with fused accumulation of weight gradients.
struct FrameworkMemory {
  // Each cuBLAS handle has a workspace. PyTorch has one handle for the thread that runs forwards
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
  // Whether a compiler (torch.compile) sees which outputs the backward reads.
  bool compiles = false;
  CrossEntropy cross_entropy = CrossEntropy::kInPlace;
  UpdateKind update = UpdateKind::kFused;
  // Whether gradients have buffers that stay from step to step. Otherwise the backward of the first
  // micro-batch makes each gradient, and the update frees it (zero_grad(set_to_none=True)).
  bool keeps_gradients = true;
  // Whether weights have 32 bits, and a forward casts those of GEMMs to 16 bits for itself and its
  // backward (torch.autocast).
  bool casts_weights = false;
  // Whether groups of layers are wrapped as in PyTorch's FSDP, with zero 3. Shards are then the
  // 32-bit masters, 16-bit weights exist only where they are gathered, the tables at both ends of a
  // chunk are one group that stays gathered until the step ends and is reduced when the backward is
  // over, and the buffers of collectives come from pools of their own.
  bool wraps_layers = false;
  // Whether the outputs of a stage stay until their backward is over, and in the last stage until
  // the micro-batch after the next one takes their place (DeepSpeed, pipe/engine.py, pipe_buffers).
  bool keeps_outputs = false;
  // Whether ranks communicate in groups beyond those of the kinds of parallelism: all ranks, and
  // all that hold a part of one replica (Megatron-LM: norms and overflows of gradients).
  bool has_global_groups = false;
};

// Returns the size of the workspaces of cuBLAS and TransformerEngine on a GPU of this generation.
Bytes LibraryWorkspace(const FrameworkMemory& framework, Generation generation);

// Returns the size of the CUDA context with cuBLAS, cuDNN and NCCL loaded, which lies outside the
// allocator.
Bytes ContextMemory();

// Returns the size of NCCL's buffers on a rank of a communicator of this many ranks, on a GPU of
// this generation; zero for a single rank. They also lie outside the allocator.
Bytes NcclBuffers(int64_t ranks, Generation generation);

}  // namespace stagecraft
