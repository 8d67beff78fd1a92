#include "runtime/host_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "costmodel/check.h"
#include "runtime/exchanges.h"
#include "runtime/step_board.h"

namespace stagecraft {

Timeline HostExecutor::Execute(const Schedule& schedule) {
  const auto ranks = static_cast<int>(schedule.ranks().size());
  if (ranks != world_.size()) {
    throw InputError(fmt::format("run: got {} processes, want {}, one a rank of the plan",
                                 world_.size(), ranks));
  }
  program_ = MakeRankProgram(schedule, world_.rank());
  records_.assign(program_.steps.size(), {});
  Exchanges exchanges(schedule, program_, world_, work_);
  StepBoard board(program_);
  work_.BeginStep();
  world_.Barrier();
  int64_t origin[] = {world_.Now().ns()};
  world_.Max(origin);
  const auto since = [&] { return world_.Now() - Duration::Nanoseconds(origin[0]); };
  const auto begun = [&](int32_t step) { records_[step].start = since(); };
  const auto ended = [&](int32_t step) { records_[step].end = since(); };
  std::thread exchanging([&] { exchanges.Run(board, begun, ended); });
  while (const std::optional<int32_t> step = board.WaitForCompute()) {
    begun(*step);
    const TaskId task = program_.steps[*step].task;
    const BlockId block = schedule.block(task);
    const int ops = block < 0 ? 0 : static_cast<int>(schedule.ops(block).size());
    for (int i = 0; i < ops; ++i) {
      if (IsCollective(schedule.op(schedule.ops(block)[i]).kind)) {
        exchanges.RunOp(*step, i);
      } else {
        work_.Run(task, i);
      }
    }
    work_.Finish(task);
    ended(*step);
    board.End(*step);
    exchanges.Signal(*step);
  }
  exchanging.join();
  return Gather(schedule);
}

Timeline HostExecutor::Gather(const Schedule& schedule) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> start(schedule.task_count()), end(schedule.task_count());
  std::vector<int64_t> minus_first_end(schedule.task_count(), kNever);
  for (size_t s = 0; s < program_.steps.size(); ++s) {
    const RankStep& step = program_.steps[s];
    const int64_t own_end = records_[s].end.ns();
    if (step.kind != StepKind::kReceive) start[step.task] = records_[s].start.ns();
    if (step.kind == StepKind::kCollective) {
      minus_first_end[step.task] = -own_end;
    } else if (step.kind != StepKind::kSend) {
      end[step.task] = own_end;
    }
  }
  world_.Max(start);
  world_.Max(end);
  world_.Max(minus_first_end);
  std::vector<Duration> starts, ends;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const int64_t first = minus_first_end[task];
    starts.push_back(Duration::Nanoseconds(start[task]));
    ends.push_back(Duration::Nanoseconds(first == kNever ? end[task] : -first));
  }
  return SettleTimes(schedule, std::move(starts), std::move(ends));
}

Timeline SettleTimes(const Schedule& schedule, std::vector<Duration> start,
                     std::vector<Duration> end) {
  std::vector<int> waits(schedule.task_count());
  std::vector<TaskId> ready;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    waits[task] += schedule.predecessor_count(task);
    for (const TaskId next : schedule.next_on_lanes(task)) {
      if (next >= 0) ++waits[next];
    }
  }
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (waits[task] == 0) ready.push_back(task);
  }
  for (size_t i = 0; i < ready.size(); ++i) {
    const TaskId task = ready[i];
    end[task] = std::max(end[task], start[task]);
    const auto follow = [&](TaskId next) {
      start[next] = std::max(start[next], end[task]);
      if (--waits[next] == 0) ready.push_back(next);
    };
    for (const TaskId next : schedule.successors(task)) follow(next);
    for (const TaskId next : schedule.next_on_lanes(task)) {
      if (next >= 0) follow(next);
    }
  }
  CHECK(ready.size() == static_cast<size_t>(schedule.task_count()));
  return Timeline(std::move(start), std::move(end));
}

}  // namespace stagecraft
