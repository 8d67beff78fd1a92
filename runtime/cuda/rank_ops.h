// RankOps: the ops of one rank's tasks, ready to run on its device.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/device_ops.h"
#include "runtime/cuda/op_kernel.h"
#include "runtime/memory_ring.h"
#include "runtime/stream_program.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Operands are random numbers in memory that rotates, so that ops do not find them in a cache. The
// GEMMs share a ring of three times the size of the cache; every other op has a ring of once its
// size, between whose turns come the operands of all others. Operands stay random and finite from
// step to step: what GEMMs read is never written, and what they write is never read. Any other op
// has memory of its own, in which each number keeps its format and only outputs, and Adam's states,
// are written.
class RankOps {
 public:
  // Makes the ops of all commands of kind kRun, for the current device; kernels are chosen for this
  // number of `multiprocessors` (0: all), on which `stream` runs. Ranks of one device share the
  // library of attention. Throws an InputError that names an op that this device or its libraries
  // cannot run, AttentionRefused if that is fused attention. The schedule must outlive the object.
  RankOps(const Schedule& schedule, std::span<const StreamCommand> commands, int multiprocessors,
          cudaStream_t stream, std::shared_ptr<LazyAttentionLibrary> attention);

  size_t needed_bytes() const { return operands_.bytes() + results_.bytes() + own_bytes_; }
  // Places the operands and results in `memory`, of needed_bytes(), and fills the operands.
  void Place(std::byte* memory, cudaStream_t stream);
  // Makes a graph of the ops of each command, which Run() then launches at once. Call this after
  // Place().
  void Capture(std::span<const StreamCommand> commands, cudaStream_t stream);

  // Queues the ops of a command; returns the number of kernels, those in a graph included.
  int Run(const StreamCommand& command, cudaStream_t stream);

  std::string Software() { return made_.Software(); }

 private:
  struct OwnOp {
    OpKernel kernel;
    std::unique_ptr<DeviceOp> op;  // nullptr: the op spins, or does nothing
    // The memory for the operands of an op that is not a GEMM, which starts at `begin`.
    size_t begin = 0;
    MemoryRing operands{0};

    bool is_product() const { return kernel.family == KernelFamily::kProduct; }
    size_t operand_bytes() const { return Aligned(op->operand_bytes()); }
  };
  // The ops of a command as one launch.
  struct OpGraph {
    Graph graph;  // nullptr: there is nothing to launch
    int kernels = 0;
  };
  using OpKey = std::tuple<OpId, bool, bool>;                       // op, forward, weight gradient
  using RunKey = std::tuple<OpSequenceId, int32_t, int32_t, bool>;  // op sequence, its ops, forward

  bool IsForward(const StreamCommand& command) const;
  OpKey KeyOf(const StreamCommand& command, int index) const;
  RunKey KeyOf(const StreamCommand& command) const;
  void Make(const StreamCommand& command, int index);
  void MeasureRings();
  std::byte* OperandsOf(OwnOp& own);
  int Launch(const StreamCommand& command, cudaStream_t stream);

  const Schedule& schedule_;
  MemoryRing operands_{0}, results_{0};  // of GEMMs
  size_t own_bytes_ = 0;                 // of all other ops
  std::byte* memory_ = nullptr;
  DType filled_as_ = DType::kBf16;  // format of the operands of GEMMs
  DeviceOps made_;
  std::map<OpKey, OwnOp> ops_;
  std::map<RunKey, OpGraph> graphs_;
};

}  // namespace stagecraft
