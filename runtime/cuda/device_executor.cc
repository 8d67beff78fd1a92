#include "runtime/cuda/device_executor.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "runtime/cuda/share_kernels.h"
#include "runtime/exchange_buffers.h"

namespace stagecraft {
namespace {

// How many kernels may wait behind the gate, on one stream and in all. A host that queues more can
// be blocked until the gate opens: a stream takes 1021 launches (measured on an H200), streams may
// share their queues, and a graph that contains memsets fills one as two launches for each of them
// would. NCCL's own queues are shorter.
constexpr int kMostQueued = 400;
constexpr int kMostQueuedInAll = 4000;
constexpr int kLaunchesOfNccl = 8;

// A step is late if devices waited for the host for this share of it.
constexpr double kLateShare = 1e-3;

constexpr double kSecondsPerMillisecond = 1e-3;

}  // namespace

DeviceExecutor::DeviceExecutor(const Schedule& schedule, const StreamProgram& program,
                               std::span<const std::unique_ptr<RankDevice>> devices,
                               NcclWorld* world)
    : schedule_(schedule),
      program_(program),
      world_(world),
      devices_(program.ranks.size()),
      gate_stream_(MakeStream()),
      gate_opened_(MakeEvent()),
      queued_(program.streams.size()) {
  for (const std::unique_ptr<RankDevice>& device : devices) devices_[device->rank()] = device.get();
  commands_ = world == nullptr ? program.commands : CommandsOf(program, world->rank());
  int* memory = nullptr;
  CHECK_CUDA(cudaHostAlloc(&memory, sizeof(int), cudaHostAllocMapped));
  gate_.reset(memory);
  *gate_ = 0;
  MakeEvents();
}

void DeviceExecutor::MakeEvents() {
  when_queued_.resize(commands_.size());
  begins_.assign(program_.events, -1);
  ends_.assign(program_.events, -1);
  for (const RankProgram& rank : program_.ranks) {
    for (size_t s = 0; s < rank.steps.size(); ++s) {
      begins_[program_.steps[rank.rank][s].begin] = rank.steps[s].task;
      ends_[program_.steps[rank.rank][s].end] = rank.steps[s].task;
    }
  }
  events_.resize(program_.events);
  event_rank_.resize(program_.events);
  for (const StreamCommand& command : commands_) {
    if (command.kind != CommandKind::kRecord) continue;
    events_[command.event] = MakeEvent();
    event_rank_[command.event] = program_.streams[command.stream].rank;
  }
  for (size_t rank = 0; rank < devices_.size(); ++rank) origins_.push_back(MakeEvent());
}

RankDevice& DeviceExecutor::DeviceOf(int32_t stream) const {
  return *devices_[program_.streams[stream].rank];
}

void DeviceExecutor::Prepare() {
  BeginStep(false);
  IssueAll();
  WaitForAll();
}

Timeline DeviceExecutor::Execute(const Schedule& schedule) {
  CHECK(&schedule == &schedule_);
  try {
    BeginStep(true);
    IssueAll();
  } catch (...) {
    OpenGate();  // lets what is already queued end
    throw;
  }
  OpenGate();
  WaitForAll();
  Timeline timeline = ReadTimes();
  const Duration late = LateBy();
  const bool is_late = late.ms() > kLateShare * timeline.makespan().ms();
  queued_late_.push_back(is_late ? late : Duration());
  return timeline;
}

// Lets every stream wait for the gate; after the gate, processes wait for one another.
void DeviceExecutor::BeginStep(bool is_gated) {
  *gate_ = is_gated ? 0 : 1;
  gate_is_open_ = !is_gated;
  queued_after_gate_.clear();
  std::fill(queued_.begin(), queued_.end(), 0);
  queued_in_all_ = 0;
  LaunchGate(gate_.get(), gate_stream_.get());
  if (world_ != nullptr) world_->QueueBarrier(gate_stream_.get());
  CHECK_CUDA(cudaEventRecord(gate_opened_.get(), gate_stream_.get()));
  for (const RankDevice* device : devices_) {
    if (device == nullptr || device->streams().empty()) continue;
    for (const auto& [id, stream] : device->streams()) {
      CHECK_CUDA(cudaStreamWaitEvent(stream.get(), gate_opened_.get(), 0));
    }
    cudaStream_t first = device->streams().begin()->second.get();
    CHECK_CUDA(cudaEventRecord(origins_[device->rank()].get(), first));
  }
}

void DeviceExecutor::OpenGate() {
  gate_is_open_ = true;
  *static_cast<volatile int*>(gate_.get()) = 1;
}

// Whether streams have begun the step. They also begin if the gate gave up, because the host was
// blocked and did not open it.
bool DeviceExecutor::HasBegun() {
  if (gate_is_open_) return true;
  const cudaError_t status = cudaEventQuery(gate_opened_.get());
  if (status == cudaErrorNotReady) return false;
  CHECK_CUDA(status);
  return gate_is_open_ = true;
}

void DeviceExecutor::IssueAll() {
  for (size_t next = 0; next < commands_.size();) {
    const size_t issued = Issue(next);
    const CommandKind kind = commands_[next].kind;
    if (kind != CommandKind::kRecord && kind != CommandKind::kWait) NoteQueued(next);
    next += issued;
  }
}

void DeviceExecutor::NoteQueued(size_t command) {
  if (!HasBegun()) return;
  Event& event = when_queued_[command];
  if (event == nullptr) event = MakeEvent();
  CHECK_CUDA(cudaEventRecord(event.get(), gate_stream_.get()));
  queued_after_gate_.push_back(command);
}

// A stream is ready for a task when its last task and everything that it waits for have ended. The
// begin of a task does not count: it is queued together with the work of the task. For the second
// and later pieces of work of a task it is not known when the stream was ready.
Duration DeviceExecutor::LateBy() const {
  const auto time_of = [this](const Event& event) {
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, gate_opened_.get(), event.get()));
    return ms;
  };
  struct StreamState {
    float ready = 0, late = 0;  // in milliseconds
    bool is_ready_known = true;
  };
  std::vector<StreamState> streams(program_.streams.size());
  auto noted = queued_after_gate_.begin();
  for (size_t i = 0; i < commands_.size() && noted != queued_after_gate_.end(); ++i) {
    const StreamCommand& command = commands_[i];
    StreamState& stream = streams[command.stream];
    if (command.kind == CommandKind::kRecord) {
      if (begins_[command.event] >= 0) continue;
      stream.ready = time_of(events_[command.event]);
      stream.is_ready_known = true;
    } else if (command.kind == CommandKind::kWait) {
      stream.ready = std::max(stream.ready, time_of(events_[command.event]));
    } else {
      if (i == *noted) {
        const float queued = time_of(when_queued_[*noted++]);
        if (stream.is_ready_known) stream.late += std::max(0.F, queued - stream.ready);
      }
      stream.is_ready_known = false;
    }
  }
  float most = 0;
  for (const StreamState& stream : streams) most = std::max(most, stream.late);
  return Duration::Seconds(kSecondsPerMillisecond * most);
}

void DeviceExecutor::Count(int32_t stream, int launches) {
  queued_[stream] += launches;
  queued_in_all_ += launches;
  if (queued_[stream] > kMostQueued || queued_in_all_ > kMostQueuedInAll) OpenGate();
}

size_t DeviceExecutor::Issue(size_t next) {
  const StreamCommand& command = commands_[next];
  RankDevice& device = DeviceOf(command.stream);
  cudaStream_t stream = device.stream(command.stream);
  switch (command.kind) {
    case CommandKind::kRecord:
      Record(command, device);
      return 1;
    case CommandKind::kWait:
      CHECK_CUDA(cudaStreamWaitEvent(stream, events_[command.event].get(), 0));
      Count(command.stream, 1);
      return 1;
    case CommandKind::kRun:
      Count(command.stream, device.ops().Run(command, stream));
      return 1;
    case CommandKind::kShare:
      if (world_ == nullptr) {
        const size_t members = program_.groups[command.group].ranks.size();
        IssueShares({&command, members});
        return members;
      }
      break;
    default:
      break;
  }
  IssueExchange(command, device);
  return 1;
}

// Records an event, and allocates memory before a task begins or frees it after a task has ended.
void DeviceExecutor::Record(const StreamCommand& command, RankDevice& device) {
  cudaStream_t stream = device.stream(command.stream);
  const TaskId begun = begins_[command.event], ended = ends_[command.event];
  if (begun >= 0) Count(command.stream, device.BeginTask(begun, stream));
  CHECK_CUDA(cudaEventRecord(events_[command.event].get(), stream));
  Count(command.stream, 1);
  if (ended >= 0) Count(command.stream, device.EndTask(ended, stream));
}

void DeviceExecutor::IssueExchange(const StreamCommand& command, RankDevice& device) {
  cudaStream_t stream = device.stream(command.stream);
  std::byte* const buffer = device.buffer(command.stream);
  const int64_t bytes = ExchangedBytes(schedule_, command).count();
  Count(command.stream, world_ == nullptr ? 1 : kLaunchesOfNccl);
  switch (command.kind) {
    case CommandKind::kShare: {
      const OpId op = schedule_.ops(schedule_.op_sequence(command.task))[command.first];
      return world_->QueueCollective(schedule_.op(op).kind, command.group, buffer, bytes, stream);
    }
    case CommandKind::kCopy: {
      const RankDevice& receiver = *devices_[MessageEnds(program_, command)[1]];
      CHECK_CUDA(cudaMemcpyAsync(receiver.buffer(command.stream), buffer,
                                 static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, stream));
      return;
    }
    case CommandKind::kSend:
      return world_->QueueSend(command.group, buffer, bytes, stream);
    case CommandKind::kReceive:
      return world_->QueueReceive(command.group, buffer, bytes, stream);
    case CommandKind::kSay:
      return world_->QueueSend(command.group, buffer, sizeof(float), stream);
    case CommandKind::kHear:
      return world_->QueueReceive(command.group, buffer, sizeof(float), stream);
    default:
      CHECK(false);
  }
}

// Queues the parts of all members. Each reads the others' buffers: the commands before make sure
// that all have arrived, and those after, that none goes on before all are done.
void DeviceExecutor::IssueShares(std::span<const StreamCommand> members) {
  const std::vector<int32_t>& ranks = program_.groups[members[0].group].ranks;
  const auto count = static_cast<int>(ranks.size());
  CHECK(count <= kMostMembers);
  MemberBuffers buffers = {.of = {}, .count = count};
  const auto place_of = [&](const StreamCommand& member) {
    const int32_t rank = program_.streams[member.stream].rank;
    return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  };
  for (const StreamCommand& member : members) {
    buffers.of[place_of(member)] =
        reinterpret_cast<float*>(DeviceOf(member.stream).buffer(member.stream));
  }
  const OpId op = schedule_.ops(schedule_.op_sequence(members[0].task))[members[0].first];
  const OpKind kind = schedule_.op(op).kind;
  const int64_t numbers = ExchangedBytes(schedule_, members[0]).count() / sizeof(float);
  for (const StreamCommand& member : members) {
    const RankDevice& device = DeviceOf(member.stream);
    Count(member.stream, count);
    QueueMemberShare(kind, member.phase, buffers, place_of(member), numbers, device.blocks(),
                     device.stream(member.stream));
  }
}

void DeviceExecutor::WaitForAll() {
  for (const RankDevice* device : devices_) {
    if (device == nullptr) continue;
    for (const auto& [id, stream] : device->streams()) {
      if (world_ != nullptr) {
        world_->Wait(stream.get());
      } else {
        CHECK_CUDA(cudaStreamSynchronize(stream.get()));
      }
    }
  }
}

// Returns the time of an event since its rank began the step.
Duration DeviceExecutor::TimeOf(int32_t event) const {
  float ms = 0;
  CHECK_CUDA(cudaEventElapsedTime(&ms, origins_[event_rank_[event]].get(), events_[event].get()));
  return Duration::Seconds(std::max(0.0, kSecondsPerMillisecond * ms));
}

Timeline DeviceExecutor::ReadTimes() {
  StepTimes times(schedule_);
  for (const RankDevice* device : devices_) {
    if (device == nullptr) continue;
    std::vector<StepRecord> records;
    for (const StepEvents& step : program_.steps[device->rank()]) {
      records.push_back({TimeOf(step.begin), TimeOf(step.end)});
    }
    times.Add(program_.ranks[device->rank()], records);
  }
  return times.Join([this](std::span<int64_t> values) {
    if (world_ != nullptr) world_->Most(values);
  });
}

}  // namespace stagecraft
