#include "runtime/cuda/cuda_run.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/device_executor.h"
#include "runtime/cuda/gpu_parts.h"
#include "runtime/cuda/gpu_readings.h"
#include "runtime/cuda/nccl_world.h"
#include "runtime/cuda/rank_device.h"
#include "runtime/cuda/refuse.h"
#include "runtime/cuda/run_checks.h"
#include "runtime/cuda/sensor_log.h"
#include "runtime/cuda/use_device.h"
#include "runtime/stream_program.h"

namespace stagecraft {
namespace {

// Returns the PCI address of a GPU: "0000:1b:00.0".
std::string BusOf(int gpu) {
  std::array<char, 32> bus = {};
  CHECK_CUDA(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), gpu));
  return bus.data();
}

// Returns "host 0000:1b:00.0", which is the same for all processes on one GPU.
std::string GpuId(int gpu) {
  std::array<char, 128> host = {};
  gethostname(host.data(), host.size() - 1);
  return std::string(host.data()) + " " + BusOf(gpu);
}

std::string DeviceName(const CudaPlace& place, const RankDevice& device) {
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDeviceProperties(&properties, place.gpu));
  std::string name = properties.name;
  if (place.multiprocessors > 0) {
    name += ", " + std::to_string(place.multiprocessors) + " multiprocessors";
  }
  return device.uses_graphs() ? name : name + ", ops launched one by one";
}

// The part of this process in a run.
class CudaRun {
 public:
  explicit CudaRun(const CudaRunRequest& request)
      : request_(request),
        gpu_(request.places[request.process.rank].gpu),
        program_(MakeStreamProgram(*request.schedule,
                                   is_alone() ? Processes::kOne : Processes::kOneARank)) {
    UseDevice(gpu_, "run");
    if (!is_alone()) world_.emplace(request.process);
    gpus_ = GatherTexts(GpuId(gpu_));
    MakeParts();
    for (size_t rank = 0; rank < ranks(); ++rank) {
      if (!IsOwn(rank)) continue;
      const CudaPlace& place = request.places[rank];
      devices_.push_back(std::make_unique<RankDevice>(
          *request.schedule, program_, static_cast<int32_t>(rank), gpu_, place.multiprocessors,
          [this, rank] { return MakeStreamOf(rank); },
          request.memory.empty() ? nullptr : &request.memory[rank], attention_));
    }
    if (world_) world_->MakeGroups(program_.groups);
  }

  CudaRunResult Run() {
    executor_.emplace(*request_.schedule, program_, devices_, world_ ? &*world_ : nullptr);
    executor_->Prepare();
    const auto progress = [this](int done) {
      if (request_.progress) request_.progress(done);
    };
    CudaRunResult result;
    SensorLog sensors(BusOf(gpu_));
    result.measured = MeasureSteps(*executor_, *request_.schedule, request_.steps, progress,
                                   [this](size_t steps) { return LateSteps(steps); });
    result.gpus = GatherReadings(Summarize(sensors.Stop()));
    result.peak_memory = PeakMemory();
    std::vector<std::string> names;  // of the ranks of this process
    for (const std::unique_ptr<RankDevice>& device : devices_) {
      names.push_back(DeviceName(request_.places[device->rank()], *device));
    }
    result.devices = world_ ? world_->Gather(names[0]) : names;
    result.software = devices_[0]->ops().Software();
    if (world_) {
      result.software += ", " + world_->Software();
      world_->Leave();
    }
    return result;
  }

 private:
  bool is_alone() const { return request_.process.size == 1; }
  size_t ranks() const { return request_.places.size(); }
  bool IsOwn(size_t rank) const {
    return is_alone() || static_cast<int>(rank) == request_.process.rank;
  }

  // Returns the texts of all processes, each at the rank that the process runs.
  std::vector<std::string> GatherTexts(const std::string& own) {
    return world_ ? world_->Gather(own) : std::vector<std::string>(ranks(), own);
  }

  // Every process splits its GPU in the same way, among all ranks that have a part of it.
  void MakeParts() {
    std::vector<int> sizes;
    part_of_.assign(ranks(), -1);
    const std::string& own_gpu = gpus_[request_.process.rank];
    for (size_t rank = 0; rank < ranks(); ++rank) {
      const int size = request_.places[rank].multiprocessors;
      if (gpus_[rank] != own_gpu || size == 0) continue;
      part_of_[rank] = static_cast<int>(sizes.size());
      sizes.push_back(size);
    }
    if (!sizes.empty()) parts_.emplace(gpu_, sizes, "run");
  }

  Stream MakeStreamOf(size_t rank) const {
    return part_of_[rank] < 0 ? MakeStream() : parts_->MakeStream(part_of_[rank]);
  }

  // Returns the numbers of all processes, by rank. All of the processes, of which there are
  // several, must call it; `own` must be >= 0.
  std::vector<int64_t> GatherNumbers(int64_t own) {
    std::vector<int64_t> values(ranks());
    values[request_.process.rank] = own;
    world_->Most(values);
    return values;
  }

  // Returns the readings of the GPU of each rank, by rank; `own` are those of this process.
  std::vector<GpuReadings> GatherReadings(const GpuReadings& own) {
    std::vector<GpuReadings> all(ranks(), own);
    if (!world_) return all;
    constexpr double kParts = 1e6;  // readings are sent as whole numbers of millionths
    for (const auto reading :
         {&GpuReadings::clock_hz, &GpuReadings::least_clock_hz, &GpuReadings::watts,
          &GpuReadings::most_watts, &GpuReadings::most_celsius}) {
      const std::vector<int64_t> values = GatherNumbers(std::llround(kParts * own.*reading));
      for (size_t rank = 0; rank < ranks(); ++rank) {
        all[rank].*reading = static_cast<double>(values[rank]) / kParts;
      }
    }
    // Zero means that there is no reading, so 1 is added to those that are sent.
    const std::vector<int64_t> throttled =
        GatherNumbers(own.throttled ? 1 + std::llround(kParts * *own.throttled) : 0);
    for (size_t rank = 0; rank < ranks(); ++rank) {
      all[rank].throttled.reset();
      if (throttled[rank] == 0) continue;
      all[rank].throttled = static_cast<double>(throttled[rank] - 1) / kParts;
    }
    return all;
  }

  // Returns how late each of the last `count` steps, those that were measured, was queued by the
  // latest process.
  std::vector<Duration> LateSteps(size_t count) {
    std::vector<int64_t> late;
    for (const Duration step : executor_->queued_late().last(count)) late.push_back(step.ns());
    if (world_) world_->Most(late);
    std::vector<Duration> times;
    for (const int64_t step : late) times.push_back(Duration::Nanoseconds(step));
    return times;
  }

  // Returns, by rank, the most memory that its pool handed out at once, plus its share of what the
  // GPU holds besides pools: contexts, libraries, NCCL's buffers.
  std::vector<Bytes> PeakMemory() {
    std::vector<int64_t> peak(ranks()), reserved(ranks()), used(ranks());
    size_t free = 0, all = 0;
    CHECK_CUDA(cudaMemGetInfo(&free, &all));
    for (const std::unique_ptr<RankDevice>& device : devices_) {
      peak[device->rank()] = device->pool().peak().count();
      reserved[device->rank()] = device->pool().reserved().count();
      used[device->rank()] = static_cast<int64_t>(all - free);
    }
    if (world_) {
      for (std::vector<int64_t>* values : {&peak, &reserved, &used}) world_->Most(*values);
    }
    std::vector<Bytes> memory;
    for (size_t rank = 0; rank < ranks(); ++rank) {
      int64_t beside = used[rank], sharing = 0;
      for (size_t other = 0; other < ranks(); ++other) {
        if (gpus_[other] != gpus_[rank]) continue;
        beside -= reserved[other];
        ++sharing;
      }
      memory.emplace_back(peak[rank] + std::max<int64_t>(0, beside) / sharing);
    }
    return memory;
  }

  const CudaRunRequest& request_;
  const int gpu_;
  const StreamProgram program_;
  std::vector<std::string> gpus_;  // by rank
  std::optional<GpuParts> parts_;
  std::vector<int> part_of_;  // by rank; -1: all of this GPU, or on another GPU
  // Destroyed before parts_, since its handles may belong to contexts of these.
  const std::shared_ptr<LazyAttentionLibrary> attention_ = std::make_shared<LazyAttentionLibrary>();
  std::vector<std::unique_ptr<RankDevice>> devices_;  // of the ranks of this process
  std::optional<DeviceExecutor> executor_;
  std::optional<NcclWorld> world_;  // no value if one process runs all ranks
};

}  // namespace

CudaRunResult RunOnCuda(const CudaRunRequest& request) {
  CheckCudaRun(request);
  try {
    return CudaRun(request).Run();
  } catch (const Unsupported& reason) {
    Refuse("run: got a GPU, want one that runs the schedule", reason);
  }
}

}  // namespace stagecraft
