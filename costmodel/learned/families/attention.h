// Attention in 16 or 8 bits, a family for each kind of kernel. 128 queries of a head are one thread
// block, 256 in the fused kernels of vendors.
//
//   serving   = start + per sequence + smooth_max(compute, memory) + store
//   compute   waves of blocks x (start of a block + mean keys x rows x (products over the head
//             size on tensor cores + an exponential)), and no less than the last block of queries,
//             which sees every key
//   memory    queries, keys, values and output once, of which L2 saves a part
//   store     keys and values into the framework's cache
//   training  = serving - store - start / 2
//   older     versions of FlashAttention compute more slowly (attention_version.h)
//   backward  = 3 kernels + smooth_max(2.5 / 0.8 compute, 3 memory)
//
// `n` counts keys. With a causal mask the mean query sees (n + a block) / 2 of them, even if a rank
// has fewer queries than keys, because these are its share of a balanced division. The backward and
// training's part of the start are assumptions: all samples are forward calls of serving, causal,
// with m == n. Features are those of that call whatever the use and direction of the op, so trees
// apply to training; no tree has seen a backward.
//
// Within the first wave of blocks the time may fall a little as heads are added; beyond it, the
// time grows with every dimension.
#pragma once

#include "costmodel/learned/kernel_family.h"

namespace stagecraft {

const KernelFamily& AttentionFamily();              // "attention": FlashAttention
const KernelFamily& AttentionOf8BitsFamily();       // "attention_8_bits": FlashAttention
const KernelFamily& FusedAttentionFamily();         // "fused_attention": a vendor's, in 16 bits
const KernelFamily& FusedAttentionOf8BitsFamily();  // "fused_attention_8_bits"
const KernelFamily& TritonAttentionFamily();        // "triton_attention": in 16 or 8 bits

// Returns the kernel of an attention op as families know it: kFlash, kFused or kTriton.
AttentionKernel KernelOn(const Op& op, const Device& device);

}  // namespace stagecraft
