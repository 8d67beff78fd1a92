// compare PREDICTED MEASURED, on a small plan whose times were changed in a known way.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "costmodel/proto_file.h"
#include "proto/timeline.pb.h"
#include "sim/schedule/schedule.h"
#include "tools/compare_testing.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

TEST_F(CompareTimelinesTest, KnownFactorsAreFound) {
  WriteMeasured([](Phase phase) { return phase == Phase::kForward ? 2.0 : 1.0; });
  const nlohmann::json report = Compare({"--top", "3"});
  EXPECT_EQ(report["command"], "compare");
  EXPECT_EQ(report["measured"]["executor"], "host");
  EXPECT_EQ(report["measured"]["steps"], 3);
  EXPECT_NEAR(report["step"]["predicted_ms"], simulated_["step_time_ms"], 1e-9);
  EXPECT_NEAR(report["step"]["measured_ms"], measured_step_.ms(), 1e-9);
  EXPECT_NEAR(report["step"]["measured_sigma_ms"], 0.010, 1e-6);
  EXPECT_LT(report["step"]["error_percent"], 0);

  const nlohmann::json forward = RowOf(report["phases"], "phase", "forward");
  EXPECT_NEAR(forward["error_percent"], -50, 1e-6);
  EXPECT_NEAR(forward["median_absolute_error_percent"], 50, 1e-6);
  EXPECT_NEAR(forward["median_sigma_percent"], 10, 0.1);
  EXPECT_NEAR(RowOf(report["phases"], "phase", "backward")["error_percent"], 0, 1e-6);

  ASSERT_EQ(report["worst_tasks"].size(), 3u);
  EXPECT_EQ(report["tasks"].size(), simulated_["tasks"]);
  for (const nlohmann::json& task : report["worst_tasks"]) {
    const nlohmann::json& row = report["tasks"][task.get<int>()];
    EXPECT_EQ(row["task"], task);
    EXPECT_EQ(row["phase"], "forward");
    EXPECT_NEAR(row["error_percent"], -50, 1e-6);
  }
  for (const nlohmann::json& rank : report["ranks"]) {
    EXPECT_NEAR(rank["peak_memory_error_percent"], -50, 1e-6);
  }
}

// Passes contain ops of several classes; sends and reductions contain ops of one class.
TEST_F(CompareTimelinesTest, OpClassesOfTheirOwnTasksAreExact) {
  WriteMeasured([](Phase phase) { return IsPass(phase) ? 1.25 : 0.5; });
  const nlohmann::json rows = Compare()["op_classes"];
  const nlohmann::json gemm = RowOf(rows, "op", "gemm");
  EXPECT_NEAR(gemm["error_percent"], -20, 0.01);
  EXPECT_LT(gemm["exact_percent"], 100);
  const nlohmann::json send = RowOf(rows, "op", "send-recv");
  EXPECT_NEAR(send["error_percent"], 100, 0.1);
  EXPECT_EQ(send["exact_percent"], 100);
}

// A send has one op, and nothing else is being sent during the first one.
TEST_F(CompareTimelinesTest, OpTimesAreThoseOfTheSimulation) {
  ASSERT_EQ(proto_.op_times_size(), 1);
  const ScheduleProto& schedule = proto_.schedule();
  int sends = 0;
  for (int task = 0; task < schedule.tasks_size() && sends == 0; ++task) {
    if (schedule.tasks(task).phase() != ScheduleProto::SEND_FORWARD) continue;
    const int op = schedule.blocks(schedule.tasks(task).block()).ops(0);
    EXPECT_EQ(proto_.op_times(0).op_ns(op), proto_.end_ns(task) - proto_.start_ns(task));
    ++sends;
  }
  EXPECT_EQ(sends, 1);
}

TEST_F(CompareTimelinesTest, CriticalPathsAddUpToTheirSteps) {
  WriteMeasured([](Phase phase) { return phase == Phase::kGradReduce ? 50.0 : 1.0; });
  const nlohmann::json report = Compare();
  double predicted = 0, measured = 0;
  for (const nlohmann::json& row : report["critical_path"]["phases"]) {
    predicted += row["predicted_ms"].get<double>();
    measured += row["measured_ms"].get<double>();
  }
  EXPECT_NEAR(predicted, report["step"]["predicted_ms"], 1e-6);
  EXPECT_NEAR(measured, report["step"]["measured_ms"], 1e-6);
  EXPECT_LT(RowOf(report["critical_path"]["phases"], "phase", "grad reduce")["difference_ms"], 0);
}

TEST_F(CompareTimelinesTest, IdleTimeIsThatOfSimulate) {
  WriteMeasured([](Phase phase) { return IsPass(phase) ? 1.0 : 40.0; });
  const nlohmann::json report = Compare();
  EXPECT_NEAR(report["predicted_bubble_fraction"], simulated_["bubble_fraction"], 1e-9);
  EXPECT_GT(report["measured_bubble_fraction"], report["predicted_bubble_fraction"]);
}

// compare does not count what the allocator loses.
TEST_F(CompareTimelinesTest, PredictedMemoryIsThatOfSimulate) {
  WriteMeasured([](Phase) { return 1.0; });
  const nlohmann::json ranks = Compare()["ranks"];
  ASSERT_EQ(ranks.size(), simulated_["memory"].size());
  for (const nlohmann::json& stage : simulated_["memory"]) {
    const double held = stage["peak"].get<double>() - stage["fragmentation"].get<double>();
    EXPECT_NEAR(ranks[stage["stage"].get<int>()]["predicted_peak_memory_gib"], held, 1e-9);
  }
}

// A file has memory and times of ops for each of its ranks, folded or not.
TEST_F(CompareTimelinesTest, FoldedOrNotTheSumsAreTheSame) {
  nlohmann::json reports[2];
  for (const bool unfold : {false, true}) {
    Simulate("predicted.pb", unfold ? Args{"--unfold"} : Args{});
    ReadProtoFile(Path("predicted.pb"), &proto_);
    WriteMeasured([](Phase phase) { return phase == Phase::kBackward ? 1.5 : 1.0; });
    reports[unfold ? 1 : 0] = Compare();
  }
  EXPECT_LT(reports[0]["ranks"].size(), reports[1]["ranks"].size());
  for (const char* phase : {"forward", "backward", "send forward"}) {
    for (const char* key : {"predicted_ms", "measured_ms"}) {
      EXPECT_NEAR(RowOf(reports[0]["phases"], "phase", phase)[key],
                  RowOf(reports[1]["phases"], "phase", phase)[key], 1e-6);
    }
  }
  EXPECT_EQ(reports[0]["ranks"][0]["predicted_peak_memory_gib"],
            reports[1]["ranks"][0]["predicted_peak_memory_gib"]);
}

// The prediction includes waits for a host that launches one kernel after another; executors on
// GPUs do not wait so.
TEST_F(CompareTimelinesTest, AHostThatGraphsDoWithoutIsSaidFirst) {
  const std::string words =
      fmt::format("{} has {:.3f} ms of CPU launch overhead", Path("predicted.pb"),
                  simulated_["host_wait_ms"].get<double>());
  const auto text = [this] {
    return Output(RunCompare, {Path("predicted.pb"), Path("measured.pb")});
  };
  ASSERT_GT(simulated_["host_wait_ms"], 0);
  WriteMeasured([](Phase) { return 1.0; });
  EXPECT_EQ(text().find("CPU launch overhead"), std::string::npos);

  TimelineProto::Measurement on_gpus;
  on_gpus.set_executor("cuda");
  WriteMeasured([](Phase) { return 1.0; }, on_gpus);
  const std::string first = Compare()["notes"][0];
  EXPECT_TRUE(first.starts_with(words)) << first;
  EXPECT_NE(first.find("simulate --host-dispatch 0"), std::string::npos);
  EXPECT_TRUE(text().starts_with("warning: " + words)) << text();
  EXPECT_EQ(text().find("note: " + words), std::string::npos);

  Simulate("predicted.pb", {"--host-dispatch", "0"});
  EXPECT_EQ(text().find("CPU launch overhead"), std::string::npos);
}

TEST_F(CompareTimelinesTest, ClocksPowerAndLateStepsOfGpusAreShown) {
  TimelineProto::Measurement more;
  more.set_executor("cuda");
  for (const int64_t late_ns : {0, 3'000'000, 0}) more.add_queued_late_ns(late_ns);
  for (int rank = 0; rank < proto_.schedule().ranks_size(); ++rank) {
    TimelineProto::GpuReadings* gpu = more.add_boards();
    gpu->set_clock_hz(1.7e9);
    gpu->set_watts(410);
    gpu->set_throttled(0.25);
  }
  WriteMeasured([](Phase) { return 1.0; }, more);
  const nlohmann::json report = Compare();
  const nlohmann::json& measured = report["measured"];
  EXPECT_EQ(measured["late_steps"], 1);
  EXPECT_EQ(measured["queued_late_ms"], (std::vector<double>{0, 3, 0}));
  EXPECT_EQ(measured["step_time_is_median"], true);
  ASSERT_EQ(measured["boards"].size(), static_cast<size_t>(proto_.schedule().ranks_size()));
  EXPECT_NEAR(measured["boards"][0]["clock_mhz"], 1700, 1e-9);
  EXPECT_EQ(measured["boards"][0]["watts"], 410);
  EXPECT_EQ(measured["boards"][0]["throttled"], 0.25);
  EXPECT_TRUE(measured["boards"][0]["most_celsius"].is_null());
  EXPECT_FALSE(report["predicted"].contains("boards"));
  // The standard deviation of the first and the third step.
  EXPECT_NEAR(report["step"]["measured_sigma_ms"], 0.0141421, 1e-6);

  const std::string text = Output(RunCompare, {Path("predicted.pb"), Path("measured.pb")});
  for (const char* words :
       {"the host queued 1 of 3 steps late: devices waited for it for up to 3.000 ms", "1700 MHz",
        "410 W", "25 %", "not read", "mean of 2 steps"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << " is not in\n" << text;
  }
}

TEST_F(CompareTimelinesTest, TheTraceShowsBothAndIsSound) {
  WriteMeasured([](Phase) { return 1.5; });
  for (const char* name : {"both.pftrace", "both.json"}) {
    const nlohmann::json report = Compare({"--trace", Path(name)});
    const std::string verdict = Output(RunCheck, {Path(name)});
    EXPECT_NE(verdict.find(" trace, "), std::string::npos) << verdict;
    const std::string bytes = Read(Path(name));
    EXPECT_NE(bytes.find("compute predicted"), std::string::npos);
    EXPECT_NE(bytes.find("compute measured"), std::string::npos);
  }
}

TEST_F(CompareTimelinesTest, TheTextNamesWhatIsWrong) {
  WriteMeasured([](Phase phase) { return phase == Phase::kForward ? 2.0 : 1.0; });
  const std::string text = Output(RunCompare, {Path("predicted.pb"), Path("measured.pb")});
  for (const char* words :
       {"executor host, test 1.0", "mean of 3 steps", "by phase, ms", "-50.0 %", "by op class",
        "critical paths, ms", "time of passes that overlap communication", "unmatched",
        "by rank: time in passes", "idle predicted  idle measured  GiB predicted  GiB measured",
        "worst 10 of"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
  EXPECT_EQ(
      Output(RunCompare, {Path("predicted.pb"), Path("measured.pb"), "--top", "0"}).find("worst"),
      std::string::npos);
}

TEST_F(CompareTimelinesTest, AnErrorOfZeroHasNoSign) {
  const std::string text = Output(RunCompare, {Path("predicted.pb"), Path("predicted.pb")});
  EXPECT_NE(text.find(" 0.0 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("+0"), std::string::npos) << text;
  EXPECT_EQ(text.find("-0"), std::string::npos) << text;
}

TEST_F(CompareTimelinesTest, ManyRanksAreShownWorstFirst) {
  Args args = kJob;
  args[3] = "h100-sxm:4x8";
  args.insert(args.end(), {"--unfold", "--timeline", Path("many.pb")});
  Output(RunSimulate, args);
  const std::string text = Output(RunCompare, {Path("many.pb"), Path("many.pb")});
  EXPECT_NE(text.find("GiB (16 of 32, the worst first)\n"), std::string::npos) << text;
}

TEST_F(CompareTimelinesTest, AnotherScheduleIsRefusedByItsFirstTask) {
  Simulate("other.pb", {"--schedule", "gpipe"});
  const std::string error = ErrorOf({Path("predicted.pb"), Path("other.pb")});
  EXPECT_TRUE(error.starts_with(Path("other.pb") + ": schedule.tasks[")) << error;
  EXPECT_NE(error.find("as in " + Path("predicted.pb") + ": both must be of one schedule"),
            std::string::npos)
      << error;
  Simulate("unfolded.pb", {"--unfold"});
  EXPECT_NE(ErrorOf({Path("predicted.pb"), Path("unfolded.pb")}).find("(simulate --unfold)"),
            std::string::npos);
}

// The same plan on slower links: times differ, tasks do not.
TEST_F(CompareTimelinesTest, LinksMayDiffer) {
  std::filesystem::rename(Path("predicted.pb"), Path("measured.pb"));
  Args args = kJob;
  args[3] = "a100-sxm4-80gb:1x4";
  args.insert(args.end(), {"--timeline", Path("predicted.pb")});
  Output(RunSimulate, args);
  EXPECT_GT(Compare()["step"]["error_percent"], 0);
}

TEST_F(CompareTimelinesTest, FilesThatCannotBeComparedAreRefused) {
  const std::string predicted = Path("predicted.pb");
  EXPECT_EQ(ErrorOf({}), "PREDICTED: got none, want two timelines, or --network with logs");
  EXPECT_EQ(ErrorOf({predicted}), "MEASURED: got none, want a timeline beside " + predicted);
  EXPECT_EQ(ErrorOf({predicted, predicted, "--trace", "x.csv"}),
            "--trace: got \"x.csv\", want a .pftrace or .json file");
  EXPECT_EQ(ErrorOf({predicted, predicted, "--cluster", "dgx-a100:1"}),
            "--cluster: got it without --network, want it only with --network");
  EXPECT_EQ(ErrorOf({predicted, "--cluster", "dgx-a100:1", "--network", "x.log"}),
            "PREDICTED: got it with --network, want it only with two timelines");
  EXPECT_EQ(ErrorOf({predicted, predicted, "--top", "-1"}), "--top: got -1, want at least 0");
  EXPECT_NE(ErrorOf({predicted, Path("none.pb")}).find("none.pb"), std::string::npos);
  TimelineProto bare = proto_;
  bare.clear_schedule();
  Write("bare.pb", bare.SerializeAsString());
  EXPECT_EQ(ErrorOf({predicted, Path("bare.pb")}),
            Path("bare.pb") + ": timeline.schedule: got none, want the one that was run");
}

// Tasks of one lane that run at the same time cannot be drawn.
TEST_F(CompareTimelinesTest, ATraceThatCannotBeDrawnNamesTheFile) {
  TimelineProto proto = proto_;
  for (int task = 0; task < proto.start_ns_size(); ++task) proto.set_start_ns(task, 0);
  proto.clear_fingerprint();
  Write("measured.pb", proto.SerializeAsString());
  EXPECT_TRUE(Compare()["measured"]["executor"].is_null());
  const nlohmann::json notes = Compare()["notes"];
  EXPECT_NE(notes.dump().find("start before what they wait for has ended"), std::string::npos);
  const std::string error =
      ErrorOf({Path("predicted.pb"), Path("measured.pb"), "--trace", Path("both.pftrace")});
  EXPECT_TRUE(error.starts_with(Path("measured.pb") + ": timeline: task ")) << error;
}

TEST_F(CompareTimelinesTest, HelpExplainsBothUses) {
  const std::string help = Output(RunCompare, {"--help"});
  EXPECT_NE(help.find("Examples:\n  stagecraft compare predicted.pb measured.pb"),
            std::string::npos);
  EXPECT_NE(help.find("\n  stagecraft compare --network"), std::string::npos);
}

}  // namespace
}  // namespace stagecraft
