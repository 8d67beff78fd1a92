#include "runtime/cuda/rank_ops.h"

#include <algorithm>
#include <utility>

#include "runtime/cuda/capture_graph.h"
#include "runtime/cuda/random_fill.h"
#include "runtime/cuda/refuse.h"
#include "runtime/cuda/share_kernels.h"

namespace stagecraft {
namespace {

// The ring of the GEMMs' operands is larger than one op's operands by this many times the size of
// the cache.
constexpr size_t kCaches = 3;

size_t CacheBytes() {
  int device = 0, bytes = 0;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
  return Aligned(static_cast<size_t>(bytes));
}

}  // namespace

RankOps::RankOps(const Schedule& schedule, std::span<const StreamCommand> commands,
                 int multiprocessors, cudaStream_t stream,
                 std::shared_ptr<LazyAttentionLibrary> attention)
    : schedule_(schedule),
      made_(
          {.multiprocessors = multiprocessors,
           .results =
               [this](size_t bytes) { return memory_ + operands_.bytes() + results_.Take(bytes); }},
          {.multiprocessors = multiprocessors, .stream = stream}, std::move(attention)) {
  for (const StreamCommand& command : commands) {
    if (command.kind != CommandKind::kRun) continue;
    for (int i = command.first; i < command.last; ++i) Make(command, i);
  }
  MeasureRings();
}

void RankOps::MeasureRings() {
  const size_t cache = CacheBytes();
  size_t operands = 0, results = 0;
  for (auto& [key, own] : ops_) {
    if (own.op == nullptr) continue;
    const size_t bytes = own.operand_bytes();
    if (!own.is_product()) {
      if (bytes == 0) continue;
      own.begin = own_bytes_;
      own.operands = MemoryRing((cache / bytes + 1) * bytes);
      own_bytes_ += own.operands.bytes();
      continue;
    }
    operands = std::max(operands, bytes);
    results = std::max(results, ResultBytes(own.kernel.one.op));
    // The bits of numbers in the narrowest format are valid numbers in every format that is as wide
    // or wider.
    const DType dtype = own.kernel.one.op.dtype;
    if (dtype == DType::kFp8 || (dtype == DType::kFp16 && filled_as_ == DType::kBf16)) {
      filled_as_ = dtype;
    }
  }
  if (operands > 0) operands_ = MemoryRing(operands + kCaches * cache);
  if (results > 0) results_ = MemoryRing(results + cache);
}

// Ops that are equal differ in layout and kernel between the forward and the backward pass.
bool RankOps::IsForward(const StreamCommand& command) const {
  return schedule_.tag(command.task).phase == Phase::kForward;
}

RankOps::OpKey RankOps::KeyOf(const StreamCommand& command, int index) const {
  const OpSequenceId op_sequence = schedule_.op_sequence(command.task);
  const bool is_weight = (schedule_.flags(op_sequence)[index] & kWeightGradient) != 0;
  return {schedule_.ops(op_sequence)[index], IsForward(command), is_weight};
}

RankOps::RunKey RankOps::KeyOf(const StreamCommand& command) const {
  return {schedule_.op_sequence(command.task), command.first, command.last, IsForward(command)};
}

void RankOps::Make(const StreamCommand& command, int index) {
  const auto [entry, is_new] = ops_.try_emplace(KeyOf(command, index));
  if (!is_new) return;
  const OpSequenceId op_sequence = schedule_.op_sequence(command.task);
  const Op& op = schedule_.op(schedule_.ops(op_sequence)[index]);
  OwnOp& own = entry->second;
  own.kernel = KernelOf(op, schedule_.tag(command.task).phase, schedule_.flags(op_sequence)[index]);
  if (own.kernel.family == KernelFamily::kNothing || own.kernel.family == KernelFamily::kSpin) {
    return;
  }
  try {
    own.op = made_.Make(own.kernel.one);
  } catch (const Unsupported& reason) {
    Refuse("run: got " + Describe(op) + " in task " + std::to_string(command.task) +
               ", want ops that this GPU and its libraries run",
           reason);
  }
}

void RankOps::Place(std::byte* memory, cudaStream_t stream) {
  memory_ = memory;
  FillRandom(memory, static_cast<int64_t>(operands_.bytes()) * 8 / ElementBits(filled_as_),
             filled_as_, 1, stream);
  for (auto& [key, own] : ops_) {
    if (own.op == nullptr || own.is_product()) continue;
    const size_t bytes = own.operand_bytes();
    for (size_t filled = 0; filled < own.operands.bytes(); filled += bytes) {
      own.op->Fill(OperandsOf(own), stream);
    }
  }
}

// Returns the operands for the next launch.
std::byte* RankOps::OperandsOf(OwnOp& own) {
  const size_t bytes = own.operand_bytes();
  if (own.is_product()) return memory_ + operands_.Take(bytes);
  const size_t begin = operands_.bytes() + results_.bytes() + own.begin;
  return memory_ + begin + own.operands.Take(bytes);
}

void RankOps::Capture(std::span<const StreamCommand> commands, cudaStream_t stream) {
  for (const StreamCommand& command : commands) {
    if (command.kind != CommandKind::kRun) continue;
    const auto [entry, is_new] = graphs_.try_emplace(KeyOf(command));
    if (!is_new) continue;
    // Libraries load their kernels at the first launch, which must not be part of a capture.
    Launch(command, stream);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    OpGraph& own = entry->second;
    Graph graph = CaptureGraph(stream, [&] { own.kernels = Launch(command, stream); });
    if (own.kernels == 0) continue;
    CHECK_CUDA(cudaGraphUpload(graph.get(), stream));
    own.graph = std::move(graph);
  }
  CHECK_CUDA(cudaStreamSynchronize(stream));
}

int RankOps::Run(const StreamCommand& command, cudaStream_t stream) {
  const auto graph = graphs_.find(KeyOf(command));
  if (graph == graphs_.end()) return Launch(command, stream);
  if (graph->second.graph == nullptr) return 0;
  CHECK_CUDA(cudaGraphLaunch(graph->second.graph.get(), stream));
  return graph->second.kernels;
}

int RankOps::Launch(const StreamCommand& command, cudaStream_t stream) {
  int launches = 0;
  for (int i = command.first; i < command.last; ++i) {
    OwnOp& own = ops_.at(KeyOf(command, i));
    if (own.kernel.family == KernelFamily::kNothing) continue;
    for (int launch = 0; launch < own.kernel.launches; ++launch) {
      if (own.kernel.family == KernelFamily::kSpin) {
        LaunchSpin(own.kernel.spin, stream);
      } else {
        own.op->Launch(OperandsOf(own), stream);
      }
      ++launches;
    }
  }
  return launches;
}

}  // namespace stagecraft
