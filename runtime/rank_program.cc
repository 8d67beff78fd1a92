#include "runtime/rank_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

void SortOnce(std::vector<int32_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

bool IsMessage(Phase phase) {
  return phase == Phase::kSendForward || phase == Phase::kSendBackward;
}

// Whether a task is nothing but an exchange: it has ops, and all of them are collectives.
bool IsExchange(const Schedule& schedule, TaskId task) {
  const OpSequenceId op_sequence = schedule.op_sequence(task);
  if (op_sequence < 0 || schedule.ops(op_sequence).empty()) return false;
  const std::span<const OpId> ops = schedule.ops(op_sequence);
  return std::all_of(ops.begin(), ops.end(),
                     [&](OpId op) { return IsCollective(schedule.op(op).kind); });
}

// Returns the rank of each device; -1 for devices that are not simulated.
std::vector<int32_t> RanksOfDevices(const Schedule& schedule) {
  std::vector<int32_t> ranks;
  for (size_t r = 0; r < schedule.ranks().size(); ++r) {
    const RankInfo& info = schedule.ranks()[r];
    if (info.multiplicity != 1) {
      throw InputError(
          fmt::format("schedule: rank {} represents {} devices, want a schedule with every device "
                      "(simulate --unfold)",
                      r, info.multiplicity));
    }
    if (static_cast<size_t>(info.device) >= ranks.size()) ranks.resize(info.device + 1, -1);
    ranks[info.device] = static_cast<int32_t>(r);
  }
  return ranks;
}

class ProgramMaker {
 public:
  ProgramMaker(const Schedule& schedule, int32_t rank, int window)
      : schedule_(schedule), window_(window), rank_of_(RanksOfDevices(schedule)) {
    program_.rank = rank;
    program_.window = window;
    step_of_.assign(schedule.task_count(), -1);
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      task_ranks_.push_back(TaskRanks(schedule, task));
      if (std::binary_search(task_ranks_[task].begin(), task_ranks_[task].end(), rank)) {
        step_of_[task] = static_cast<int32_t>(program_.steps.size());
        program_.steps.push_back(Step(task));
      }
    }
  }

  RankProgram Make() {
    for (RankStep& step : program_.steps) FollowLanes(step);
    FollowChannels();
    for (TaskId task = 0; task < schedule_.task_count(); ++task) FollowDependencies(task);
    for (RankStep& step : program_.steps) SortOnce(step.signals);
    return std::move(program_);
  }

 private:
  RankStep Step(TaskId task) const {
    RankStep step;
    step.task = task;
    step.peers = Peers(task);
    if (IsMessage(schedule_.tag(task).phase)) {
      step.kind = step.peers.front() == program_.rank ? StepKind::kSend : StepKind::kReceive;
    } else if (IsExchange(schedule_, task)) {
      step.kind = StepKind::kCollective;
    }
    return step;
  }

  // Returns the group of the task's communicator to which the rank belongs; without a communicator,
  // all ranks of its lanes.
  std::vector<int32_t> Peers(TaskId task) const {
    const int32_t communicator = schedule_.communicator(task);
    if (communicator < 0) return task_ranks_[task];
    for (const std::vector<int32_t>& group : schedule_.communicators()[communicator]) {
      std::vector<int32_t> peers;
      for (const int32_t device : group) peers.push_back(RankOf(device));
      if (std::find(peers.begin(), peers.end(), program_.rank) != peers.end()) return peers;
    }
    return task_ranks_[task];
  }

  int32_t RankOf(int32_t device) const {
    const auto index = static_cast<size_t>(device);
    if (index < rank_of_.size() && rank_of_[index] >= 0) return rank_of_[index];
    throw InputError(
        fmt::format("schedule: device {} takes part in a collective but is not a rank; servers are "
                    "not executed",
                    device));
  }

  void Wait(RankStep& before, int32_t after) {
    before.next.push_back(after);
    ++program_.steps[after].waits;
  }

  void FollowLanes(RankStep& step) {
    const std::span<const Lane> lanes = schedule_.lanes(step.task);
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (schedule_.lane_infos()[Index(lanes[i])].rank != program_.rank) continue;
      const TaskId next = schedule_.next_on_lanes(step.task)[i];
      if (next >= 0) Wait(step, step_of_[next]);
    }
  }

  // Lets each message of a sender's lane wait for the one that is `window_` before it.
  void FollowChannels() {
    std::map<Lane, std::vector<int32_t>> received;
    for (int32_t s = 0; s < static_cast<int32_t>(program_.steps.size()); ++s) {
      const RankStep& step = program_.steps[s];
      if (step.kind != StepKind::kReceive) continue;
      std::vector<int32_t>& before = received[schedule_.lanes(step.task)[0]];
      if (before.size() >= static_cast<size_t>(window_)) {
        Wait(program_.steps[before[before.size() - window_]], s);
      }
      before.push_back(s);
    }
  }

  void FollowDependencies(TaskId task) {
    const int32_t own = step_of_[task];
    for (const TaskId after : schedule_.successors(task)) {
      const int32_t step = step_of_[after];
      if (own >= 0 && step >= 0) {
        // A message is received whenever it comes, so its receiver waits for nothing before it.
        if (program_.steps[step].kind != StepKind::kReceive) Wait(program_.steps[own], step);
        continue;
      }
      if (own < 0 && step < 0) continue;
      std::vector<int32_t> both;
      std::set_intersection(task_ranks_[task].begin(), task_ranks_[task].end(),
                            task_ranks_[after].begin(), task_ranks_[after].end(),
                            std::back_inserter(both));
      if (!both.empty()) continue;
      if (own >= 0) {
        if (task_ranks_[task].front() != program_.rank) continue;
        std::vector<int32_t>& signals = program_.steps[own].signals;
        signals.insert(signals.end(), task_ranks_[after].begin(), task_ranks_[after].end());
      } else if (program_.steps[step].kind != StepKind::kReceive) {
        Await(task, step);
      }
    }
  }

  void Await(TaskId task, int32_t step) {
    std::vector<AwaitedSignal>& awaited = program_.awaited;
    if (awaited.empty() || awaited.back().task != task) {
      awaited.push_back({task, task_ranks_[task].front(), {}});
    }
    awaited.back().next.push_back(step);
    ++program_.steps[step].waits;
  }

  const Schedule& schedule_;
  const int window_;
  const std::vector<int32_t> rank_of_;  // by device
  RankProgram program_;
  std::vector<std::vector<int32_t>> task_ranks_;
  std::vector<int32_t> step_of_;  // by task; -1: the rank has no part in it
};

// Returns the entry of a task in a list in ascending order of task; nullptr if there is none.
template <typename Entry>
const Entry* FindTask(const std::vector<Entry>& entries, TaskId task) {
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), task,
                       [](const Entry& e, TaskId wanted) { return e.task < wanted; });
  return found == entries.end() || found->task != task ? nullptr : &*found;
}

}  // namespace

int32_t RankProgram::StepOf(TaskId task) const {
  const RankStep* const step = FindTask(steps, task);
  return step == nullptr ? -1 : static_cast<int32_t>(step - steps.data());
}

const AwaitedSignal* RankProgram::SignalOf(TaskId task) const { return FindTask(awaited, task); }

std::vector<int32_t> TaskRanks(const Schedule& schedule, TaskId task) {
  std::vector<int32_t> ranks;
  for (const Lane lane : schedule.lanes(task)) {
    ranks.push_back(schedule.lane_infos()[Index(lane)].rank);
  }
  if (IsMessage(schedule.tag(task).phase) && schedule.communicator(task) >= 0) {
    const int32_t receiver = schedule.communicators()[schedule.communicator(task)][0][1];
    for (size_t r = 0; r < schedule.ranks().size(); ++r) {
      if (schedule.ranks()[r].device == receiver) ranks.push_back(static_cast<int32_t>(r));
    }
  }
  SortOnce(ranks);
  return ranks;
}

RankProgram MakeRankProgram(const Schedule& schedule, int32_t rank, int window) {
  return ProgramMaker(schedule, rank, window).Make();
}

std::vector<int32_t> OpPeers(const Schedule& schedule, int32_t rank, const Op& op, uint8_t flags) {
  const RankInfo& own = schedule.ranks()[rank];
  std::vector<int32_t> members;  // of the stage in all replicas, or in this one
  for (size_t r = 0; r < schedule.ranks().size(); ++r) {
    const RankInfo& info = schedule.ranks()[r];
    const bool is_near = (flags & kExpertGroup) != 0 || info.replica == own.replica;
    if (info.stage == own.stage && is_near) members.push_back(static_cast<int32_t>(r));
  }
  const auto size = static_cast<size_t>(op.fabric.ranks);
  CHECK(size > 0 && members.size() % size == 0);
  const auto place =
      static_cast<size_t>(std::find(members.begin(), members.end(), rank) - members.begin());
  const size_t stride = (flags & kContextGroup) != 0 ? members.size() / size : 1;
  const size_t first = stride == 1 ? place / size * size : place % stride;
  std::vector<int32_t> peers;
  for (size_t i = 0; i < size; ++i) peers.push_back(members[first + i * stride]);
  return peers;
}

}  // namespace stagecraft
