// How long one compute op takes on a device: a roofline with efficiency curves.
//
//   device time = start + smooth_max(compute, memory)
//   compute     waves of output tiles over the multiprocessors, at the peak
//               rate x Device::sustained_fraction; the best of a few tile
//               shapes and splits of k
//   memory      bytes / (bandwidth x fraction)
//   host time   kernels x host_dispatch, the device's or else that of the constants; ahead of
//               the device or in its way
//
// No GPU has constants of its own: what differs is its Device row. The samples
// ran one kernel at a time at locked boost clock, and sustained_fraction is the
// best 16-bit product under like conditions over the datasheet's peak. A device
// whose clock falls during long steps has a smaller fraction in its row.
//
// More work never takes less time: every term grows with every dimension.
#pragma once

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// "Fitted" is least squares on log(predicted / measured) over four fifths of
// the shapes; costmodel/README.md names the samples and the errors on the rest.
struct KernelConstants {
  // A kernel from its start to its end besides its work; fitted on GEMM.
  Duration start = 3060_ns;
  // What adding up the parts of a product split along k costs; fitted.
  Duration split = 3570_ns;
  // Host time per kernel of an op as the workload counts them, in an eager
  // framework: Python, autograd and dispatch of what we count as one fused kernel.
  // Fitted on half of vTrain's single-node rows (README.md). Zero: launches are
  // free (CUDA graphs).
  Duration host_dispatch = 75_us;

  // Steps of k that it takes to fill and drain a tile; fitted, tensor cores.
  double k_fill = 126;
  // Loading operands: a tile of (tm, tn) works at tm*tn / (tm*tn + edge*(tm+tn))
  // of the rate; fitted, on tensor cores and on fp32 units.
  double tensor_edge = 9.4;
  double fp32_edge = 19.4;
  // Share of an unfilled last wave that is lost, in [0, 1]; fitted.
  double wave_loss = 0.13;
  // Reached memory bandwidth over the datasheet's; fitted, in products and in
  // elementwise kernels, softmax and layer norm among them.
  double product_memory_fraction = 0.79;
  double stream_memory_fraction = 0.82;
  // max(a, b) is (a^p + b^p)^(1/p) with this p; fitted on GEMM.
  double overlap_power = 2.44;

  // Fused attention, forward, at head size 128: rate over the sustained rate,
  // keys' worth of work to start a block of queries, and a call's fixed time
  // (a serving framework's, its preparation included); fitted.
  double attention_fraction = 0.71;
  double attention_key_fill = 82;
  Duration attention_start = 9100_ns;
  // The rate at head size h goes as h / (h + this): softmax costs the same for
  // every size. Gives the ratios 0.77 and 1.17 of sizes 64 and 256 to 128, as
  // recalled from FlashAttention-3 (2024), H100. Assumption: fitted on 128 only.
  double attention_head_half = 54;
  // Backward rate over forward rate. Assumption, after the figures of
  // FlashAttention-2 (2023): backward reaches about 0.8 of forward on an A100.
  double attention_backward_fraction = 0.8;
};

// Whether the device has a rate for the op's number format, or the op needs none.
bool CanCompute(const Op& op, const Device& device);

// CHECKs that the op computes (not a collective) and that the device can; lowering
// refuses such plans before anything is predicted.
Estimate PredictKernel(const Op& op, const Device& device,
                       const KernelConstants& constants = KernelConstants());

// What the host needs to launch an op's kernels on the device; nothing where it is the
// device itself.
Duration LaunchTime(const Op& op, const Device& device,
                    const KernelConstants& constants = KernelConstants());

// A bound no kernel beats: flops at the dense peak, what exceeds L2 at DRAM's
// bandwidth, all bytes at L2's. Zero for collectives.
Duration RooflineTime(const Op& op, const Device& device);

}  // namespace stagecraft
