// GEMMs on tensor cores, 8 to 32 bits, and convolutions as implicit ones.
//
//   time    = start + (compute^p + memory^p)^(1/p)
//   compute = least over tiles (tm, tn) and splits s of k:
//               w x (max(k / s, 128) x step + fill)   [+ adding up the parts]
//             step = 2 max(tm tn + edge (tm + tn), kmin) / (rate / SMs)
//             w    = max(1, w0 + wave_loss x (ceil(w0) - w0)), w0 = tiles x s / SMs
//             the rate is that at the clock which board power leaves (board_power.h): higher for
//             kernels of less than about a millisecond than for longer ones
//   memory  = (bytes x miss + rereads) / DRAM + bytes x (1 - miss) / L2 + ramp x miss
//             miss and rereads go smoothly from 0 to 1 as operands outgrow L2; bytes that are
//             written count `store` times
//
// Start, fill and ramp are counted in clocks, so they scale with the GPU type. The values from
// which constants are fitted were chosen on aiconfigurator's bf16 GEMMs by leaving GPU types out.
#pragma once

#include "costmodel/learned/kernel_family.h"

namespace stagecraft {

const KernelFamily& TensorGemmFamily();

}  // namespace stagecraft
