// UpdateTensors: what an optimizer step makes and drops on one rank, when activations are gone.
#pragma once

#include <cstdint>

#include "sim/memory/chunk_tensors.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/model_states.h"
#include "sim/plan/step_options.h"
#include "sim/shard/shard.h"

namespace stagecraft {

// UpdatedParameters are the trained parameters of a rank, and the bytes of one.
struct UpdatedParameters {
  int64_t reduced = 0;   // those whose gradients are still to be reduced
  int64_t own = 0;       // those that the device updates
  int64_t gathered = 0;  // those that are updated by several ranks and gathered from them
  int zero = 0;          // Plan::zero
  int64_t working = 2;
  int64_t gradient = 2;
  Optimizer optimizer = Optimizer::kAdam;
};

// Returns the tensors of the step in the order in which the allocator meets them; the summary is
// that of what is allocated at one time. They differ: a buffer that a collective reads or writes
// counts as free once it is dropped, but the allocator does not hand it out again before the
// collective has ended (record_stream in torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp), and the
// host, which issues all buckets one after another, is ahead of the GPU.
//
// kForeach: _multi_tensor_adam of torch/optim/adam.py makes the square roots of all second moments
// at once. kDeepspeed: gradients of several ranks are copied into buckets that are reduced
// (runtime/zero/stage2.py, buffered_reduce_fallback; engine.py, buffered_allreduce_fallback); below
// 32 bits those that the rank updates are then made one flat tensor and cast to 32 bits, or cast
// and made one, without ZeRO (fp16/fused_optimizer.py); ZeRO gathers the updated parameters in
// shards, which c10d receives in buffers of their own.
ChunkPass TraceUpdate(UpdateKind kind, const UpdatedParameters& parameters);

// Returns the parameters of a rank that holds these trained ones. From ZeRO 2 on gradients are
// reduced in backwards, with ZeRO 3 parameters are gathered in passes, and experts are reduced and
// gathered among the ranks that hold them. With `is_on_host` the host updates.
UpdatedParameters UpdatedBy(const ParameterCount& trained, const StateSharing& sharing,
                            bool is_on_host);

}  // namespace stagecraft
