#include "runtime/exchanges.h"

#include <openmpi/mpi.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "costmodel/check.h"
#include "runtime/mpi_group.h"

namespace stagecraft {
namespace {

// Keys of the two groups that belong to no kind of lane of the schedule.
constexpr int kMessages = 100, kWords = 101;

std::vector<int32_t> AllRanks(const MpiWorld& world) {
  std::vector<int32_t> ranks(world.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Begins a collective of a group, in place, on a whole buffer.
MPI_Request BeginCollective(OpKind kind, std::span<float> buffer, MPI_Comm group) {
  int size = 1;
  MPI_Comm_size(group, &size);
  const int count = static_cast<int>(buffer.size());
  const int share = count / size;
  float* data = buffer.data();
  MPI_Request request = MPI_REQUEST_NULL;
  switch (kind) {
    case OpKind::kAllReduce:
      MPI_Iallreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, group, &request);
      break;
    case OpKind::kAllGather:
      MPI_Iallgather(MPI_IN_PLACE, 0, MPI_FLOAT, data, share, MPI_FLOAT, group, &request);
      break;
    case OpKind::kReduceScatter:
      MPI_Ireduce_scatter_block(MPI_IN_PLACE, data, share, MPI_FLOAT, MPI_SUM, group, &request);
      break;
    case OpKind::kAllToAll:
      MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_FLOAT, data, share, MPI_FLOAT, group, &request);
      break;
    case OpKind::kBroadcast:
      MPI_Ibcast(data, count, MPI_FLOAT, 0, group, &request);
      break;
    default:
      CHECK(false);
  }
  return request;
}

// An exchange in flight: an op of a step that has begun, or a signal that is awaited.
struct Pending {
  int32_t step = -1;
  int op = 0;
  const AwaitedSignal* signal = nullptr;
};

}  // namespace

struct Exchanges::Requests {
  std::vector<Pending> pending;
  std::vector<MPI_Request> handles;   // of each pending exchange; MPI_REQUEST_NULL if it has ended
  MPI_Request op = MPI_REQUEST_NULL;  // the collective among the ops of a computed step
};

Exchanges::Exchanges(const Schedule& schedule, const RankProgram& program, MpiWorld& world,
                     RankWork& work)
    : schedule_(schedule),
      program_(program),
      world_(world),
      work_(work),
      messages_(world.GroupOf(AllRanks(world), kMessages)),
      words_(world.GroupOf(AllRanks(world), kWords)),
      requests_(new Requests) {
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const OpSequenceId op_sequence = schedule.op_sequence(program.steps[s].task);
    const int ops = op_sequence < 0 ? 0 : static_cast<int>(schedule.ops(op_sequence).size());
    for (int i = 0; i < ops; ++i) GroupOf(static_cast<int32_t>(s), i);
  }
  for (const AwaitedSignal& signal : program.awaited) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_FLOAT, signal.from, signal.task, words_.handle, &request);
    requests_->pending.push_back({.signal = &signal});
    requests_->handles.push_back(request);
  }
}

Exchanges::~Exchanges() = default;

const Op& Exchanges::OpOf(int32_t step, int index) const {
  return schedule_.op(schedule_.ops(schedule_.op_sequence(program_.steps[step].task))[index]);
}

MpiWorld::Group* Exchanges::GroupOf(int32_t step, int index) {
  const RankStep& own = program_.steps[step];
  const Op& op = OpOf(step, index);
  if (!IsCollective(op.kind) || op.kind == OpKind::kSendRecv) return nullptr;
  if (own.kind == StepKind::kCompute) {
    const uint8_t flags = schedule_.flags(schedule_.op_sequence(own.task))[index];
    return &world_.GroupOf(OpPeers(schedule_, program_.rank, op, flags),
                           static_cast<int>(LaneKind::kCompute));
  }
  const Lane lane = schedule_.lanes(own.task)[0];
  return &world_.GroupOf(own.peers, static_cast<int>(schedule_.lane_infos()[Index(lane)].kind));
}

void Exchanges::BeginOp(int32_t step, int index) {
  requests_->op =
      BeginCollective(OpOf(step, index).kind, work_.Buffer(program_.steps[step].task, index),
                      GroupOf(step, index)->handle);
}

bool Exchanges::IsOpOver() {
  int is_over = 0;
  MPI_Test(&requests_->op, &is_over, MPI_STATUS_IGNORE);
  return is_over != 0;
}

void Exchanges::Signal(int32_t step) {
  const RankStep& own = program_.steps[step];
  for (const int32_t rank : own.signals) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_FLOAT, rank, own.task, words_.handle, &request);
    MPI_Request_free(&request);
  }
}

void Exchanges::Begin(size_t index) {
  const Pending& pending = requests_->pending[index];
  MPI_Request& handle = requests_->handles[index];
  const RankStep& step = program_.steps[pending.step];
  const std::span<float> buffer = work_.Buffer(step.task, pending.op);
  const int count = static_cast<int>(buffer.size());
  if (step.kind == StepKind::kSend) {
    MPI_Isend(buffer.data(), count, MPI_FLOAT, step.peers[1], step.task, messages_.handle, &handle);
  } else if (step.kind == StepKind::kReceive) {
    MPI_Irecv(buffer.data(), count, MPI_FLOAT, step.peers[0], step.task, messages_.handle, &handle);
  } else {
    handle = BeginCollective(OpOf(pending.step, pending.op).kind, buffer,
                             GroupOf(pending.step, pending.op)->handle);
  }
}

void Exchanges::End(size_t index, RankProgress& progress, const Note& ended) {
  Pending& pending = requests_->pending[index];
  if (pending.signal != nullptr) return progress.Arrive(*pending.signal);
  const RankStep& step = program_.steps[pending.step];
  const auto ops = static_cast<int>(schedule_.ops(schedule_.op_sequence(step.task)).size());
  if (++pending.op < ops) return Begin(index);
  if (step.kind == StepKind::kReceive) work_.Receive(step.task);
  ended(pending.step);
  progress.End(pending.step);
  Signal(pending.step);
}

bool Exchanges::Advance(RankProgress& progress, const Note& begun, const Note& ended) {
  auto& [pending, handles, op] = *requests_;
  const std::vector<int32_t> steps = progress.TakeExchanges();
  for (const int32_t step : steps) {
    begun(step);
    pending.push_back({.step = step});
    handles.push_back(MPI_REQUEST_NULL);
    Begin(pending.size() - 1);
  }
  std::vector<int> over(handles.size());
  int count = 0;
  MPI_Testsome(static_cast<int>(handles.size()), handles.data(), &count, over.data(),
               MPI_STATUSES_IGNORE);
  if (count == MPI_UNDEFINED) return false;  // nothing is in flight
  std::sort(over.begin(), over.begin() + count);
  for (int i = 0; i < count; ++i) End(over[i], progress, ended);
  size_t kept = 0;
  for (size_t i = 0; i < handles.size(); ++i) {
    if (handles[i] == MPI_REQUEST_NULL) continue;
    pending[kept] = pending[i];
    handles[kept++] = handles[i];
  }
  pending.resize(kept);
  handles.resize(kept);
  return count > 0 || !steps.empty();
}

}  // namespace stagecraft
