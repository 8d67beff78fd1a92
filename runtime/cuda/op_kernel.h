// OpKernel: the kernel that does an op of a schedule on a GPU.
#pragma once

#include <cstdint>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "runtime/profile/profile_case.h"
#include "sim/schedule/task_tag.h"

namespace stagecraft {

enum class KernelFamily {
  kNothing,
  kProduct,
  kAttention,
  kRows,
  kStream,
  kSpin,  // takes the given time: what was profiled as a whole
};

struct OpKernel {
  KernelFamily family = KernelFamily::kNothing;
  ProfileCase one;  // what a launch does
  int launches = 1;
  Duration spin;  // of all launches; for kSpin only
};

// The kernel of an op that is no collective. GEMMs are in the layout of their pass: `flags` of the
// op (StepFlags) mark weight gradients; convolutions are GEMMs of their sizes; 8-bit ones have the
// only layout that there is. Kernels for ops that only move bytes move as many: norms and softmax
// in rows of their width, others as sums of two tensors, and Adam's states. Sizes are rounded down
// to what kernels take, multiples of 8 to 128 elements.
OpKernel KernelOf(const Op& op, Phase phase, uint8_t flags);

}  // namespace stagecraft
