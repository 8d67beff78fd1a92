#include "runtime/exchanges.h"

#include <openmpi/mpi.h>
#include <sched.h>
#include <sys/prctl.h>

#include <chrono>
#include <numeric>
#include <span>
#include <utility>

#include "costmodel/check.h"
#include "runtime/mpi_group.h"

namespace stagecraft {
namespace {

// Names of groups that are no lanes of the schedule.
constexpr int kMessages = 100, kWords = 101;

std::vector<int32_t> AllRanks(const MpiWorld& world) {
  std::vector<int32_t> ranks(world.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Begins a collective of a group on a whole buffer.
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

// Between looks at what is under way, where the other thread computes: each look takes the
// processor from it for some microseconds. What it makes ready is seen at once.
constexpr std::chrono::microseconds kPatience(300), kNoPatience(0);
// Where nothing is under way.
constexpr std::chrono::microseconds kLongPatience(1'000'000);

}  // namespace

// A step that has begun, and which of its ops runs.
struct Exchanges::Running {
  int32_t step = -1;
  int op = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};

struct Exchanges::Requests {
  std::vector<Running> running;
  std::vector<std::pair<const AwaitedSignal*, MPI_Request>> awaited;
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
    const BlockId block = schedule.block(program.steps[s].task);
    const int ops = block < 0 ? 0 : static_cast<int>(schedule.ops(block).size());
    for (int i = 0; i < ops; ++i) GroupOf(static_cast<int32_t>(s), i);
  }
}

Exchanges::~Exchanges() = default;

const Op& Exchanges::OpOf(int32_t step, int index) const {
  return schedule_.op(schedule_.ops(schedule_.block(program_.steps[step].task))[index]);
}

MpiWorld::Group* Exchanges::GroupOf(int32_t step, int index) {
  const RankStep& own = program_.steps[step];
  const Op& op = OpOf(step, index);
  if (!IsCollective(op.kind) || op.kind == OpKind::kSendRecv) return nullptr;
  if (own.kind == StepKind::kCompute) {
    const uint8_t flags = schedule_.flags(schedule_.block(own.task))[index];
    return &world_.GroupOf(BlockPeers(schedule_, program_.rank, op, flags),
                           static_cast<int>(LaneKind::kCompute));
  }
  const Lane lane = schedule_.lanes(own.task)[0];
  return &world_.GroupOf(own.peers, static_cast<int>(schedule_.lane_infos()[Index(lane)].kind));
}

void Exchanges::RunOp(int32_t step, int index) {
  MPI_Request request =
      BeginCollective(OpOf(step, index).kind, work_.Buffer(program_.steps[step].task, index),
                      GroupOf(step, index)->handle);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void Exchanges::Signal(int32_t step) {
  const RankStep& own = program_.steps[step];
  for (const int32_t rank : own.signals) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_FLOAT, rank, own.task, words_.handle, &request);
    MPI_Request_free(&request);
  }
}

void Exchanges::BeginOp(Running& running) {
  const RankStep& step = program_.steps[running.step];
  const std::span<float> buffer = work_.Buffer(step.task, running.op);
  const int count = static_cast<int>(buffer.size());
  if (step.kind == StepKind::kSend) {
    MPI_Isend(buffer.data(), count, MPI_FLOAT, step.peers[1], step.task, messages_.handle,
              &running.request);
  } else if (step.kind == StepKind::kReceive) {
    MPI_Irecv(buffer.data(), count, MPI_FLOAT, step.peers[0], step.task, messages_.handle,
              &running.request);
  } else {
    running.request = BeginCollective(OpOf(running.step, running.op).kind, buffer,
                                      GroupOf(running.step, running.op)->handle);
  }
}

bool Exchanges::Advance(StepBoard& board, const Note& ended) {
  bool any = false;
  std::erase_if(requests_->running, [&](Running& running) {
    int is_done = 0;
    MPI_Test(&running.request, &is_done, MPI_STATUS_IGNORE);
    if (is_done == 0) return false;
    any = true;
    const RankStep& step = program_.steps[running.step];
    const auto ops = static_cast<int>(schedule_.ops(schedule_.block(step.task)).size());
    if (++running.op < ops) {
      BeginOp(running);
      return false;
    }
    if (step.kind == StepKind::kReceive) work_.Receive(step.task);
    ended(running.step);
    board.End(running.step);
    Signal(running.step);
    return true;
  });
  std::erase_if(requests_->awaited, [&](auto& awaited) {
    int is_done = 0;
    MPI_Test(&awaited.second, &is_done, MPI_STATUS_IGNORE);
    if (is_done == 0) return false;
    any = true;
    board.Arrive(*awaited.first);
    return true;
  });
  return any;
}

void Exchanges::Run(StepBoard& board, const Note& begun, const Note& ended) {
  prctl(PR_SET_TIMERSLACK, 1000);  // of this thread, in ns: short pauses stay short
  for (const AwaitedSignal& signal : program_.awaited) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_FLOAT, signal.from, signal.task, words_.handle, &request);
    requests_->awaited.emplace_back(&signal, request);
  }
  bool went_on = false;
  while (true) {
    const bool is_idle = requests_->running.empty() && requests_->awaited.empty();
    if (is_idle && board.AllExchangesTaken()) return;
    const bool spins = !is_idle && (went_on || board.computes_idle());
    const auto patience = is_idle ? kLongPatience : spins ? kNoPatience : kPatience;
    went_on = false;
    for (const int32_t step : board.TakeExchanges(patience)) {
      went_on = true;
      begun(step);
      BeginOp(requests_->running.emplace_back(Running{.step = step}));
    }
    went_on = Advance(board, ended) || went_on;
    if (!went_on && board.computes_idle()) sched_yield();
  }
}

}  // namespace stagecraft
