#include "tools/run/measured_history.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "runtime/run_log.h"
#include "sim/job/history.h"

namespace stagecraft {
namespace {

using What = LogEntry::What;
using Lines = std::vector<std::string>;

LogEntry At(double seconds, What what, int64_t step, int rank = 0) {
  return {what, rank, step, Duration::Seconds(seconds)};
}

ProcessesLife Life(double started, double ended, std::vector<LogEntry> log) {
  return {Duration::Seconds(started), Duration::Seconds(ended), std::move(log)};
}

// "computing 0+3 until 30": the steps before a phase, its own, and the time of its end in s.
Lines PhaseLines(const History& history) {
  Lines lines;
  for (const RunPhase& phase : history.phases) {
    lines.push_back(fmt::format("{} {}+{} until {:g}", Name(phase.kind), phase.first_step,
                                phase.steps, (phase.start + phase.length).seconds()));
  }
  return lines;
}

// Steps of 2 s and checkpoints of 1 s after two of them. Rank 1 dies after three steps.
std::vector<ProcessesLife> ALifeAndAnother() {
  return {Life(90, 112,
               {At(97, What::kReady, 0), At(100, What::kReloaded, 0), At(102, What::kStep, 1),
                At(104, What::kStep, 2), At(104, What::kSaving, 2), At(105, What::kSaved, 2),
                At(107, What::kStep, 3), At(107, What::kDying, 3, 1)}),
          Life(113, 132,
               {At(120, What::kReady, 2), At(122, What::kReloaded, 2), At(124, What::kStep, 3),
                At(126, What::kStep, 4), At(126, What::kSaving, 4), At(127, What::kSaved, 4)})};
}

const Lines kPhases = {
    "computing 0+2 until 4",  "checkpoint 2+0 until 5", "computing 2+1 until 7",
    "detection 3+0 until 12", "restart 2+0 until 20",   "reload 2+0 until 22",
    "redone 2+1 until 24",    "computing 3+1 until 26", "checkpoint 4+0 until 27"};

TEST(MeasuredHistoryTest, ItBeginsWithTheFirstStepAndHasNoGaps) {
  const History history = MeasuredHistory(ALifeAndAnother(), 2);
  EXPECT_EQ(PhaseLines(history), kPhases);
  EXPECT_EQ(history.phases[0].step_time, Duration::Seconds(2));
  EXPECT_EQ(history.phases[3].reason, "rank 1 was killed");
  EXPECT_EQ(history.phases[6].reason, "lost when rank 1 was killed");
  const RunTotals& totals = history.totals;
  EXPECT_EQ(totals.devices, 2);
  EXPECT_EQ(totals.steps, 4);
  EXPECT_EQ(totals.time, Duration::Seconds(27));
  EXPECT_EQ(totals.useful, Duration::Seconds(8));
  EXPECT_EQ(totals.Lost(PhaseKind::kCheckpoint), Duration::Seconds(2));
  EXPECT_EQ(totals.Lost(PhaseKind::kDetection), Duration::Seconds(5));
  EXPECT_EQ(totals.Lost(PhaseKind::kRestart), Duration::Seconds(8));
  EXPECT_EQ(totals.Lost(PhaseKind::kReload), Duration::Seconds(2));
  EXPECT_EQ(totals.Lost(PhaseKind::kRedone), Duration::Seconds(2));
  EXPECT_EQ(totals.failures, 1);
  EXPECT_EQ(totals.checkpoints, 2);
  EXPECT_EQ(totals.steps_redone, 1);
}

// Rank 0 may be ended before it logs the step after which another rank dies, or be in the middle of
// a checkpoint then.
TEST(MeasuredHistoryTest, TheLastWordOfARankThatDiesSaysWhatIsComplete) {
  std::vector<ProcessesLife> lives = ALifeAndAnother();
  std::vector<LogEntry>& log = lives[0].log;
  log.erase(log.end() - 2);  // step 3
  EXPECT_EQ(PhaseLines(MeasuredHistory(lives, 2)), kPhases);
  log.push_back(At(107.5, What::kStep, 3));
  log.push_back(At(107.5, What::kSaving, 3));
  EXPECT_EQ(PhaseLines(MeasuredHistory(lives, 2)), kPhases);
}

TEST(MeasuredHistoryTest, WithoutCheckpointsNothingIsReadAgain) {
  const std::vector<ProcessesLife> lives = {
      Life(90, 112, {At(100, What::kReady, 0), At(102, What::kDying, 1, 1)}),
      Life(113, 132, {At(120, What::kReady, 0), At(122, What::kStep, 1), At(124, What::kStep, 2)})};
  EXPECT_EQ(PhaseLines(MeasuredHistory(lives, 2)),
            (Lines{"computing 0+1 until 2", "detection 1+0 until 12", "restart 0+0 until 20",
                   "redone 0+1 until 22", "computing 1+1 until 24"}));
}

TEST(MeasuredHistoryTest, CostsAreThoseOfAStart) {
  const ProcessesLife life = ALifeAndAnother()[1];
  EXPECT_EQ(RestartTime(life), Duration::Seconds(7));
  EXPECT_EQ(ReloadTime(life), Duration::Seconds(2));
}

TEST(MeasuredHistoryTest, TheMedianCheckpointCounts) {
  EXPECT_EQ(MedianSaveTime({}), Duration());
  EXPECT_EQ(
      MedianSaveTime({At(1, What::kSaving, 0), At(4, What::kSaved, 0), At(4, What::kSaving, 1),
                      At(5, What::kSaved, 1), At(5, What::kSaving, 2), At(6.5, What::kDying, 0, 1),
                      At(7, What::kSaved, 2)}),
      Duration::Seconds(2));
}

}  // namespace
}  // namespace stagecraft
