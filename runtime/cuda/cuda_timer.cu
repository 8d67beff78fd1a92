#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "runtime/cuda/capture_graph.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/cuda_timer.h"
#include "runtime/cuda/device_op.h"
#include "runtime/cuda/device_ops.h"
#include "runtime/cuda/gpu_parts.h"
#include "runtime/cuda/part_check.h"
#include "runtime/cuda/refuse.h"
#include "runtime/cuda/sensors.h"
#include "runtime/cuda/share_kernels.h"
#include "runtime/cuda/use_device.h"
#include "runtime/profile/measuring.h"

namespace stagecraft {
namespace {

// Consecutive calls rotate through blocks of operands of this many times the size of the cache
// together, and as much is read before a batch, so that no call finds its operands in the cache.
constexpr size_t kCaches = 3;
// Equal to MeasuringRules::most_calls, so that a batch uses each block at most once.
constexpr size_t kMostBlocks = 256;
// Sensors are read while this many seconds of work are queued, at most kMostSensorRuns runs.
constexpr double kSensorSeconds = 3e-3;
constexpr double kMostSensorRuns = 64;

constexpr int kThreads = 512;
constexpr int kBlocksPerMultiprocessor = 4;

// Fills the cache with other lines, none of which has to be written back.
__global__ void ReadAll(const uint4* memory, size_t count, unsigned* sink) {
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  unsigned sum = 0;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const uint4 line = memory[i];
    sum += line.x ^ line.y ^ line.z ^ line.w;
  }
  if (sum == 0x9e3779b9u) *sink = sum;  // false for zeros; keeps the compiler from dropping reads
}

// A device that was idle takes a while to raise its clocks. This much work suffices, however long
// the host takes to queue it.
constexpr float kWakingUpMilliseconds = 500;
constexpr int kFlushesInARow = 64;

// What the timed ops of one device share.
struct DeviceContext {
  int multiprocessors = 0;
  size_t cache = 0;
  Stream stream;
  Event begin, end;
  DeviceMemory flushed;  // the last line is the sink of ReadAll()
  DeviceMemory operands;
  std::unique_ptr<Sensors> sensors;

  void Flush() {
    const size_t count = flushed.bytes() / sizeof(uint4) - 1;
    auto* const lines = reinterpret_cast<uint4*>(flushed.get());
    ReadAll<<<multiprocessors * kBlocksPerMultiprocessor, kThreads, 0, stream.get()>>>(
        lines, count, reinterpret_cast<unsigned*>(lines + count));
    CHECK_CUDA(cudaGetLastError());
  }

  void WakeUp() {
    CHECK_CUDA(cudaEventRecord(begin.get(), stream.get()));
    for (float ms = 0; ms < kWakingUpMilliseconds;) {
      for (int i = 0; i < kFlushesInARow; ++i) Flush();
      CHECK_CUDA(cudaEventRecord(end.get(), stream.get()));
      CHECK_CUDA(cudaEventSynchronize(end.get()));
      CHECK_CUDA(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    }
  }
};

class CudaTimedOp final : public TimedOp {
 public:
  CudaTimedOp(std::unique_ptr<DeviceOp> op, DeviceContext& context)
      : op_(std::move(op)), context_(context) {
    stride_ = Aligned(std::max<size_t>(1, op_->operand_bytes()));
    const size_t wanted = kCaches * context.cache;
    blocks_ = std::clamp<size_t>((wanted + stride_ - 1) / stride_ + 1, 1, kMostBlocks);
    if (stride_ >= wanted) blocks_ = 1;
    if (context.operands.bytes() < blocks_ * stride_) {
      context.operands = DeviceMemory();  // frees the old memory first
      context.operands = DeviceMemory(blocks_ * stride_);
    }
    for (size_t block = 0; block < blocks_; ++block) {
      op_->Fill(BlockAt(block), context.stream.get());
    }
    // Libraries load their kernels at the first launch, which must not be part of a capture.
    op_->Launch(BlockAt(0), context.stream.get());
    CHECK_CUDA(cudaStreamSynchronize(context.stream.get()));
    Capture(1);  // refuses an op that cannot be captured
  }

  // Keeps the device busy while the host queues the calls, so that it finds them waiting. No host
  // needs kHeadStart for one launch.
  Duration Run(int calls) override {
    Capture(calls);
    context_.Flush();
    LaunchSpin(kHeadStart, context_.stream.get());
    CHECK_CUDA(cudaGraphLaunch(graph_.get(), context_.stream.get()));
    CHECK_CUDA(cudaStreamSynchronize(context_.stream.get()));
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, context_.begin.get(), context_.end.get()));
    last_seconds_ = std::max(1e-6, 1e-3 * ms);
    return Duration::Seconds(1e-3 * ms);
  }

  DeviceState State() override {
    Capture(std::max(1, captured_));
    const double runs = std::clamp(kSensorSeconds / last_seconds_, 1.0, kMostSensorRuns);
    for (int run = 0; run < static_cast<int>(runs); ++run) {
      CHECK_CUDA(cudaGraphLaunch(graph_.get(), context_.stream.get()));
    }
    const DeviceState state = context_.sensors->Read();
    CHECK_CUDA(cudaStreamSynchronize(context_.stream.get()));
    return state;
  }

 private:
  std::byte* BlockAt(size_t index) const {
    return context_.operands.get() + index % blocks_ * stride_;
  }

  void Record(const Event& event) const {
    CHECK_CUDA(
        cudaEventRecordWithFlags(event.get(), context_.stream.get(), cudaEventRecordExternal));
  }

  // Captures the calls as a graph, which launches kernels faster than the host could launch short
  // ones. The graph also records when calls begin and end, since an event outside of it is
  // microseconds away from its first kernel.
  void Capture(int calls) {
    if (captured_ == calls) return;
    cudaStream_t stream = context_.stream.get();
    graph_ = CaptureGraph(stream, [&] {
      Record(context_.begin);
      for (int call = 0; call < calls; ++call) {
        op_->Launch(BlockAt(static_cast<size_t>(call)), stream);
      }
      Record(context_.end);
    });
    CHECK_CUDA(cudaGraphUpload(graph_.get(), stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    captured_ = calls;
  }

  std::unique_ptr<DeviceOp> op_;
  DeviceContext& context_;
  size_t stride_ = 0, blocks_ = 1;
  Graph graph_;
  int captured_ = 0;  // the number of calls in the graph; 0: none is captured
  double last_seconds_ = 1;
};

class CudaOpTimer final : public OpTimer {
 public:
  CudaOpTimer(int ordinal, const std::string& place, const GpuPart& part) {
    cudaDeviceProp properties;
    CHECK_CUDA(cudaGetDeviceProperties(&properties, ordinal));
    char bus[32] = "";
    CHECK_CUDA(cudaDeviceGetPCIBusId(bus, sizeof bus, ordinal));
    context_.multiprocessors =
        IsWhole(part) ? properties.multiProcessorCount : part.multiprocessors[part.part];
    context_.cache = static_cast<size_t>(properties.l2CacheSize);
    context_.stream = IsWhole(part) ? MakeStream() : StreamOfPart(ordinal, place, part);
    context_.begin = MakeEvent();
    context_.end = MakeEvent();
    context_.flushed = DeviceMemory(kCaches * context_.cache + sizeof(uint4));
    CHECK_CUDA(cudaMemset(context_.flushed.get(), 0, context_.flushed.bytes()));
    CHECK_CUDA(cudaDeviceSynchronize());
    context_.WakeUp();
    context_.sensors = std::make_unique<Sensors>(bus);
    device_.name = properties.name;
    if (!IsWhole(part)) {
      ops_.emplace(GemmOptions{.multiprocessors = context_.multiprocessors},
                   AttentionOptions{.multiprocessors = context_.multiprocessors,
                                    .stream = context_.stream.get()});
    }
    size_t free = 0, all = 0;
    CHECK_CUDA(cudaMemGetInfo(&free, &all));
    device_.memory = Bytes(static_cast<int64_t>(all));
    device_.software = ops_->Software();
  }

  MeasuredDevice device() const override { return device_; }

  PreparedOp Prepare(const ProfileCase& one) override {
    try {
      return {std::make_unique<CudaTimedOp>(ops_->Make(one), context_), ""};
    } catch (const Unsupported& reason) {
      return {nullptr, reason.what()};
    }
  }

 private:
  static bool IsWhole(const GpuPart& part) { return part.multiprocessors.empty(); }

  Stream StreamOfPart(int ordinal, const std::string& place, const GpuPart& part) {
    parts_.emplace(ordinal, part.multiprocessors, place);
    Stream stream = parts_->MakeStream(part.part);
    if (GraphsKeepToPart(part.multiprocessors[part.part], stream.get())) return stream;
    throw InputError(place +
                     ": got a part of a GPU to which CUDA graphs are not confined, want a driver " +
                     "that confines them to it: ops are timed in graphs");
  }

  std::optional<GpuParts> parts_;  // no value: the whole GPU; outlives the stream
  DeviceContext context_;
  MeasuredDevice device_;
  std::optional<DeviceOps> ops_ = DeviceOps();
};

}  // namespace

std::unique_ptr<OpTimer> MakeCudaOpTimer(int ordinal, const std::string& place,
                                         const GpuPart& part) {
  UseDevice(ordinal, place);
  try {
    return std::make_unique<CudaOpTimer>(ordinal, place, part);
  } catch (const Unsupported& reason) {
    Refuse(place + ": got GPU " + std::to_string(ordinal) +
               ", want one with enough free memory to time ops",
           reason);
  }
}

}  // namespace stagecraft
