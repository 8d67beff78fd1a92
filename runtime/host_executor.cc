#include "runtime/host_executor.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "costmodel/check.h"
#include "runtime/exchanges.h"
#include "runtime/pauses.h"
#include "runtime/rank_progress.h"

namespace stagecraft {
namespace {

// How often a second thread drives the exchanges while an op is computed, so that the rounds of a
// collective and long messages between hosts make progress. Each time costs the op some
// microseconds.
constexpr std::chrono::milliseconds kLook(1);

// One training step of one rank.
class StepRun {
 public:
  StepRun(const Schedule& schedule, const RankProgram& program, MpiWorld& world, RankWork& work,
          std::vector<StepRecord>& records)
      : schedule_(schedule),
        program_(program),
        world_(world),
        work_(work),
        records_(records),
        exchanges_(schedule, program, world, work),
        progress_(program) {}

  void Run() {
    work_.BeginStep();
    std::unique_lock setting_up(mutex_);  // only one thread at a time may call MPI
    const std::jthread looks([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(kLook);
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (lock) Advance();
      }
    });
    world_.Barrier();
    int64_t origin[] = {world_.Now().ns()};
    world_.Max(origin);
    origin_ = Duration::Nanoseconds(origin[0]);
    setting_up.unlock();
    std::optional<int32_t> step;
    const auto next = [&] {
      step = progress_.TakeCompute();
      return step || progress_.AllEnded();
    };
    for (AdvanceUntil(next); step; AdvanceUntil(next)) Compute(*step);
  }

 private:
  Duration Now() const { return world_.Now() - origin_; }

  // Precondition: the caller holds the lock.
  bool Advance() {
    return exchanges_.Advance(
        progress_, [this](int32_t step) { records_[step].start = Now(); },
        [this](int32_t step) { records_[step].end = Now(); });
  }

  void AdvanceUntil(const std::function<bool()>& is_over) {
    Pauses pauses;
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        const bool went_on = Advance();
        if (is_over()) return;
        if (went_on) pauses.Restart();
      }
      pauses.Pause();
    }
  }

  void Compute(int32_t step) {
    records_[step].start = Now();
    const TaskId task = program_.steps[step].task;
    const OpSequenceId op_sequence = schedule_.op_sequence(task);
    const int ops = op_sequence < 0 ? 0 : static_cast<int>(schedule_.ops(op_sequence).size());
    for (int i = 0; i < ops; ++i) {
      if (IsCollective(schedule_.op(schedule_.ops(op_sequence)[i]).kind)) {
        {
          const std::lock_guard lock(mutex_);
          exchanges_.BeginOp(step, i);
        }
        AdvanceUntil([this] { return exchanges_.IsOpOver(); });
      } else {
        work_.Run(task, i);
        const std::lock_guard lock(mutex_);
        Advance();
      }
    }
    work_.Finish(task);
    records_[step].end = Now();
    const std::lock_guard lock(mutex_);
    progress_.End(step);
    exchanges_.Signal(step);
  }

  const Schedule& schedule_;
  const RankProgram& program_;
  MpiWorld& world_;
  RankWork& work_;
  std::vector<StepRecord>& records_;  // by step
  Duration origin_;
  std::mutex mutex_;  // guards exchanges_ and progress_
  Exchanges exchanges_;
  RankProgress progress_;
};

}  // namespace

Timeline HostExecutor::Execute(const Schedule& schedule) {
  const auto ranks = static_cast<int>(schedule.ranks().size());
  if (ranks != world_.size()) {
    throw InputError(fmt::format("run: got {} processes, want {}, one for each rank of the plan",
                                 world_.size(), ranks));
  }
  program_ = MakeRankProgram(schedule, world_.rank());
  records_.assign(program_.steps.size(), {});
  StepRun(schedule, program_, world_, work_, records_).Run();
  StepTimes times(schedule);
  times.Add(program_, records_);
  return times.Join([this](std::span<int64_t> values) { world_.Max(values); });
}

}  // namespace stagecraft
