// OpKernel: the kernel that runs an op of a schedule on a GPU.
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
  kSpin,  // takes a given time, for ops that were profiled as a whole
};

struct OpKernel {
  KernelFamily family = KernelFamily::kNothing;
  ProfileCase one;  // the op of one launch
  int launches = 1;
  Duration spin;  // of all launches; for kSpin only
};

// Returns the kernel of an op, which must be neither a collective nor a sparse product. GEMMs have the layout of their pass:
// `flags` of the op (StepFlags) mark weight gradients. Convolutions are GEMMs of their sizes, and
// 8-bit GEMMs have the only layout that exists. Ops that only move bytes become kernels that move
// as many: norms and softmax in rows of their width, Adam's states, and sums of two tensors for all
// others. Sizes are rounded down to multiples of 8 to 128 elements, which kernels take.
OpKernel KernelOf(const Op& op, Phase phase, uint8_t flags);

}  // namespace stagecraft
