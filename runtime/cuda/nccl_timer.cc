#include "runtime/cuda/nccl_timer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/device_op.h"
#include "runtime/cuda/nccl_calls.h"
#include "runtime/cuda/nccl_library.h"
#include "runtime/cuda/sensors.h"

namespace stagecraft {
namespace {

// Sensors are read while this many seconds of work are queued, at most kMostSensorRuns runs.
constexpr double kSensorSeconds = 3e-3;
constexpr double kMostSensorRuns = 64;

// One of the devices, with its send and receive buffers.
struct Member {
  int device = 0;
  Stream stream;
  Event begin, end;
  DeviceMemory from, to;
  std::unique_ptr<Sensors> sensors;
  Graph graph;

  void MakeCurrent() const { CHECK_CUDA(cudaSetDevice(device)); }
};

// Communicators of the first 2, 3, ... devices, each made when it is first needed.
class Communicators {
 public:
  Communicators(const NcclLibrary& nccl, std::vector<int> devices)
      : nccl_(nccl), devices_(std::move(devices)) {}
  ~Communicators() {
    for (const auto& [ranks, group] : groups_) {
      for (const ncclComm_t rank : group) nccl_.CommDestroy(rank);
    }
  }
  Communicators(const Communicators&) = delete;

  const std::vector<ncclComm_t>& Of(int ranks) {
    std::vector<ncclComm_t>& group = groups_[ranks];
    if (group.empty()) {
      std::vector<ncclComm_t> made(static_cast<size_t>(ranks));
      nccl_.Check(nccl_.CommInitAll(made.data(), ranks, devices_.data()), "ncclCommInitAll");
      group = std::move(made);
    }
    return group;
  }

 private:
  const NcclLibrary& nccl_;
  const std::vector<int> devices_;
  std::map<int, std::vector<ncclComm_t>> groups_;  // by number of ranks
};

class NcclTimedOp final : public TimedOp {
 public:
  NcclTimedOp(const Op& op, const NcclLibrary& nccl, const std::vector<ncclComm_t>& group,
              std::vector<Member>& members)
      : op_(op),
        ranks_(static_cast<size_t>(op.fabric.ranks)),
        nccl_(nccl),
        group_(group),
        members_(members) {
    if (!IsCollective(op.kind)) {
      throw Unsupported(std::string("no ") + Name(op.kind) + " between devices");
    }
    const size_t bytes = static_cast<size_t>(op.bytes.count());
    for (size_t rank = 0; rank < ranks_; ++rank) {
      Member& member = members_[rank];
      member.MakeCurrent();
      if (member.to.bytes() >= bytes) continue;
      member.from = DeviceMemory();  // frees the old buffers first
      member.to = DeviceMemory();
      member.from = DeviceMemory(bytes);
      member.to = DeviceMemory(bytes);
      CHECK_CUDA(cudaMemset(member.from.get(), 0, bytes));
      CHECK_CUDA(cudaDeviceSynchronize());
    }
    // NCCL connects ranks at the first call.
    Meet();
    Call();
    Synchronize();
  }
  // Destroys the graphs that contain calls of the communicator, since its destruction, which comes
  // later, waits for them.
  ~NcclTimedOp() override {
    for (size_t rank = 0; rank < ranks_; ++rank) members_[rank].graph.reset();
  }

  Duration Run(int calls) override {
    Capture(calls);
    Launch();
    Synchronize();
    double most = 0;
    for (size_t rank = 0; rank < ranks_; ++rank) {
      const Member& member = members_[rank];
      float ms = 0;
      CHECK_CUDA(cudaEventElapsedTime(&ms, member.begin.get(), member.end.get()));
      most = std::max(most, 1e-3 * ms);
    }
    last_seconds_ = std::max(1e-6, most);
    return Duration::Seconds(most);
  }

  DeviceState State() override {
    Capture(std::max(1, captured_));
    const double runs = std::clamp(kSensorSeconds / last_seconds_, 1.0, kMostSensorRuns);
    for (int run = 0; run < static_cast<int>(runs); ++run) Launch();
    DeviceState state = members_[0].sensors->Read();
    for (size_t rank = 1; rank < ranks_; ++rank) {
      state = Together(state, members_[rank].sensors->Read());
    }
    Synchronize();
    return state;
  }

 private:
  // Returns the number of elements of a buffer.
  size_t Count() const { return static_cast<size_t>(op_.bytes.count()) / sizeof(float); }

  // Makes the calls of `rank` for one collective.
  void CallOf(size_t rank) const {
    const Member& member = members_[rank];
    const NcclBuffers buffers = {
        .from = reinterpret_cast<float*>(member.from.get()),
        .to = reinterpret_cast<float*>(member.to.get()),
        .count = Count(),
        .part = Count() / ranks_,
    };
    const NcclMember own = {group_[rank], member.stream.get(), static_cast<int>(rank),
                            static_cast<int>(ranks_)};
    Check(QueueNcclCalls(op_.kind, buffers, own, nccl_));
  }
  void Check(ncclResult_t status) const { nccl_.Check(status, Name(op_.kind)); }

  void Call() {
    nccl_.Check(nccl_.GroupStart(), "ncclGroupStart");
    for (size_t rank = 0; rank < ranks_; ++rank) CallOf(rank);
    nccl_.Check(nccl_.GroupEnd(), "ncclGroupEnd");
  }

  // Queues a small all-reduce, after which no device is far ahead of another.
  void Meet() {
    nccl_.Check(nccl_.GroupStart(), "ncclGroupStart");
    for (size_t rank = 0; rank < ranks_; ++rank) {
      const Member& member = members_[rank];
      nccl_.Check(nccl_.AllReduce(member.from.get(), member.to.get(), 1, ncclFloat, ncclSum,
                                  group_[rank], member.stream.get()),
                  "ncclAllReduce");
    }
    nccl_.Check(nccl_.GroupEnd(), "ncclGroupEnd");
  }

  // Lets the graph record an event when it reaches this point.
  void Record(Event Member::*event) const {
    for (size_t rank = 0; rank < ranks_; ++rank) {
      const Member& member = members_[rank];
      member.MakeCurrent();
      CHECK_CUDA(cudaEventRecordWithFlags((member.*event).get(), member.stream.get(),
                                          cudaEventRecordExternal));
    }
  }

  void Synchronize() const {
    for (size_t rank = 0; rank < ranks_; ++rank) {
      members_[rank].MakeCurrent();
      CHECK_CUDA(cudaStreamSynchronize(members_[rank].stream.get()));
    }
  }

  // Captures the calls of each device as a graph: one host thread could neither keep up with short
  // calls nor start several devices at once.
  void Capture(int calls) {
    if (captured_ == calls) return;
    captured_ = 0;
    for (size_t rank = 0; rank < ranks_; ++rank) {
      members_[rank].MakeCurrent();
      CHECK_CUDA(
          cudaStreamBeginCapture(members_[rank].stream.get(), cudaStreamCaptureModeThreadLocal));
    }
    Meet();
    Record(&Member::begin);
    for (int call = 0; call < calls; ++call) Call();
    Record(&Member::end);
    for (size_t rank = 0; rank < ranks_; ++rank) {
      Member& member = members_[rank];
      member.MakeCurrent();
      cudaGraph_t graph = nullptr;
      CHECK_CUDA(cudaStreamEndCapture(member.stream.get(), &graph));
      cudaGraphExec_t executable = nullptr;
      const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
      cudaGraphDestroy(graph);
      CheckCuda(status, "cudaGraphInstantiate");
      member.graph.reset(executable);
      CHECK_CUDA(cudaGraphUpload(executable, member.stream.get()));
    }
    Synchronize();
    captured_ = calls;
  }

  void Launch() {
    for (size_t rank = 0; rank < ranks_; ++rank) {
      members_[rank].MakeCurrent();
      CHECK_CUDA(cudaGraphLaunch(members_[rank].graph.get(), members_[rank].stream.get()));
    }
  }

  const Op op_;
  const size_t ranks_;
  const NcclLibrary& nccl_;
  const std::vector<ncclComm_t>& group_;
  std::vector<Member>& members_;
  int captured_ = 0;  // the number of calls in the graphs; 0: none is captured
  double last_seconds_ = 1;
};

class NcclOpTimer final : public OpTimer {
 public:
  NcclOpTimer(std::unique_ptr<NcclLibrary> nccl, const std::vector<int>& devices)
      : nccl_(std::move(nccl)), communicators_(*nccl_, devices) {
    for (const int device : devices) {
      Member member;
      member.device = device;
      member.MakeCurrent();
      member.stream = MakeStream();
      member.begin = MakeEvent();
      member.end = MakeEvent();
      char bus[32] = "";
      CHECK_CUDA(cudaDeviceGetPCIBusId(bus, sizeof bus, device));
      member.sensors = std::make_unique<Sensors>(bus);
      members_.push_back(std::move(member));
      size_t free = 0, all = 0;
      CHECK_CUDA(cudaMemGetInfo(&free, &all));
      const Bytes memory(static_cast<int64_t>(free));
      device_.memory = device == devices[0] ? memory : std::min(device_.memory, memory);
    }
    cudaDeviceProp properties;
    CHECK_CUDA(cudaGetDeviceProperties(&properties, devices[0]));
    device_.name = properties.name;
    device_.software = "nccl-" + nccl_->Version();
  }

  MeasuredDevice device() const override { return device_; }

  PreparedOp Prepare(const ProfileCase& one) override {
    try {
      return {std::make_unique<NcclTimedOp>(one.op, *nccl_, communicators_.Of(one.op.fabric.ranks),
                                            members_),
              ""};
    } catch (const Unsupported& reason) {
      return {nullptr, reason.what()};
    }
  }

 private:
  MeasuredDevice device_;
  std::unique_ptr<NcclLibrary> nccl_;
  std::vector<Member> members_;
  Communicators communicators_;  // destroyed before the streams on which they worked
};

}  // namespace

std::unique_ptr<OpTimer> MakeNcclOpTimer(const std::vector<int>& devices,
                                         const std::string& place) {
  return std::make_unique<NcclOpTimer>(LoadNccl(place + ": got several devices"), devices);
}

}  // namespace stagecraft
