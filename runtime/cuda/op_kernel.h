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
  kSpin,  // takes its time: what was profiled as a whole
};

struct OpKernel {
  KernelFamily family = KernelFamily::kNothing;
  ProfileCase one;  // what a launch does
  int launches = 1;
  Duration spin;  // of all launches; kSpin only
};

// Of an op that is no collective. Products are in the layout of their pass: `flags` of the op
// (StepFlags) tell gradients of weights; convolutions are products of their sizes; 8-bit ones
// have the one layout that there is. What only moves bytes moves as many: norms and softmax
// in rows of their width, else sums of two tensors, and Adam's states. Sizes are rounded down
// to what kernels take, 8 to 128 elements.
OpKernel KernelOf(const Op& op, Phase phase, uint8_t flags);

}  // namespace stagecraft
