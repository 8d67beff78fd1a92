// KernelPlaces: finds the operators and marked ranges in which kernels were launched.
#pragma once

#include "tools/recorded/recording.h"

namespace stagecraft {

// Sets slice, place, gemm, attention and collective of every kernel, and its class where its own
// name tells nothing but the operator that launched it does. A kernel belongs to what encloses its
// launch on the thread of the host or, where that says nothing, to the marked ranges on its stream
// (KeyOfStream). What autograd runs belongs to the layer and micro-batch of the operator with the
// same sequence number that ran forward. Sorts slices and launches.
void PlaceKernels(Recording& recording);

// The thread under which readers store marked ranges of a GPU's stream. Threads of hosts are never
// below zero.
int64_t KeyOfStream(int32_t device, int32_t stream);

}  // namespace stagecraft
