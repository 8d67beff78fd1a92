#include "runtime/host_executor.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <thread>

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
    std::this_thread::yield();  // to the other, which may have something to send now
  }
  exchanging.join();
  StepTimes times(schedule);
  times.Add(program_, records_);
  return times.Join([this](std::span<int64_t> values) { world_.Max(values); });
}

}  // namespace stagecraft
