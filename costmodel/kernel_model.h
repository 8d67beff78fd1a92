// KernelModel: how long one compute op takes on a device, as a roofline with efficiency curves.
//
//   device time = start + smooth_max(compute, memory)
//   compute     waves of output tiles over the multiprocessors, at the peak
//               rate x SustainedFraction(); the best of a few tile
//               shapes and splits of k
//   memory      bytes / (bandwidth x fraction)
//   host time   kernels x host_dispatch of the device, or else of the constants; the host
//               launches ahead of the device, or the device waits for it
//
// No GPU type has constants of its own: what differs is its Device row. The samples ran one kernel
// at a time at locked boost clock, and SustainedFraction() is the best 16-bit GEMM under similar
// conditions over the datasheet's peak. A device whose clock falls during long steps has a smaller
// fraction in its row.
//
// More work never takes less time: every term grows with every dimension.
#pragma once

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// "Fitted" means least squares on log(predicted / measured) over four fifths of the shapes;
// docs/cost-model.md names the samples and the errors on the rest.
struct KernelConstants {
  // The time of a kernel from its start to its end that is not work; fitted on GEMMs.
  Duration start = 3060_ns;
  // The time that it takes to add up the parts of a GEMM that is split along k; fitted.
  Duration split = 3570_ns;
  // Host time for each kernel of an op, as the workload counts kernels, in an eager framework:
  // Python, autograd and the dispatch of everything that counts as one fused kernel here. Fitted on
  // half of vTrain's single-node rows (docs/cost-model.md). With zero, launches are free (CUDA
  // graphs).
  Duration host_dispatch = 75_us;

  // How many steps of k it takes to fill and drain a tile; fitted, on tensor cores.
  double k_fill = 126;
  // The cost of loading operands: a tile of (tm, tn) works at tm*tn / (tm*tn + edge*(tm+tn)) of the
  // rate; fitted on tensor cores and on fp32 units.
  double tensor_edge = 9.4;
  double fp32_edge = 19.4;
  // The lost share of the unfilled part of the last wave, in [0, 1]; fitted.
  double wave_loss = 0.13;
  // The memory bandwidth that is reached, over the datasheet's; fitted on GEMMs, and on elementwise
  // kernels including softmax and layer norm.
  double product_memory_fraction = 0.79;
  double stream_memory_fraction = 0.82;
  // The smooth maximum of a and b is (a^p + b^p)^(1/p) with this p; fitted on GEMMs.
  double overlap_power = 2.44;

  // Fused attention, forward, at head size 128: its rate over the sustained rate, how many keys'
  // worth of work it takes to start a block of queries, and the fixed time of a call (a serving
  // framework's, its preparation included); fitted.
  double attention_fraction = 0.71;
  double attention_key_fill = 82;
  Duration attention_start = 9100_ns;
  // The rate at head size h is proportional to h / (h + this), since softmax costs the same for
  // every head size. This gives the ratios 0.77 and 1.17 of sizes 64 and 256 to 128, as recalled
  // from FlashAttention-3 (2024), H100. It is an assumption: fitted samples have size 128 only.
  double attention_head_half = 54;
  // Rate of the backward over that of the forward. An assumption after the figures of
  // FlashAttention-2 (2023): on an A100 the backward reaches about 0.8 of the forward.
  double attention_backward_fraction = 0.8;

  // Products of a sparse matrix, from its entries: their rate over that of the vector units in 32
  // bits, on which they run. The best that the kernels of Gale et al., "Sparse GPU Kernels for Deep
  // Learning" (2020), reach on a V100; no sample of ours has one.
  double sparse_fraction = 0.27;
};

// Whether the device has a rate for the number format of the op, or the op needs none.
bool CanCompute(const Op& op, const Device& device);

// CHECKs that the op computes (not a collective) and that the device can; lowering
// refuses such plans before anything is predicted. Sparse products run from their entries,
// whatever Op::product says (sparse_product.h).
Estimate PredictKernel(const Op& op, const Device& device,
                       const KernelConstants& constants = KernelConstants());

// Returns the time that the host needs to launch the kernels of an op on the device; zero if the
// host is the device.
Duration LaunchTime(const Op& op, const Device& device,
                    const KernelConstants& constants = KernelConstants());

// Returns a time that no kernel beats, namely the longest of three: the FLOPs at the dense peak,
// the bytes that exceed L2 at the bandwidth of DRAM, and all bytes at the bandwidth of L2. Zero for
// collectives.
Duration RooflineTime(const Op& op, const Device& device);

}  // namespace stagecraft
