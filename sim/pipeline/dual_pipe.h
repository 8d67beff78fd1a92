// DualPipe and DualPipeV (DeepSeek-V3, 2024; github.com/deepseek-ai/DualPipe, MIT):
// a forward of one direction runs beside a backward of the other, so that each hides
// the other's messages, and weight gradients fill what is left.
//
// Where input gradients take as long as forwards, a step waits for
// (h - 1)(F&B + B - 3 W) on every stage: h is half the stages of DualPipe or all of
// DualPipeV's, F&B what a pair takes, B a whole backward, W its weight gradients. At
// most 2 h + 1 passes are in flight on a stage.
#pragma once

#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// For ChunkMap::Bidirectional(stages): `stages` is even; micro_batches is even and at
// least 2 * stages, and half of them go each way.
PassOrders DualPipeOrders(int stages, int micro_batches);

// For ChunkMap::Wave(stages, 2), one copy of the network cut in half:
// micro_batches >= 2 * stages.
PassOrders DualPipeVOrders(int stages, int micro_batches);

}  // namespace stagecraft
