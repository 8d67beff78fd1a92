// Training runs of real processes, which are killed and start again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "runtime/scratch_folder.h"
#include "tools/run/host_rank_testing.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Names = std::vector<std::string>;

std::string Plan() {
  return " --model " + TinyNetwork() +
         " --cluster h100-sxm:1x2 --pp 2 --micro-batch 1 --global-batch 2 --seq 64 --precision "
         "fp32";
}

// Returns what a run of the plan prints as JSON.
Json Train(const std::string& flags) {
  const CommandResult result = RunWords("run --quiet --json " + flags + Plan());
  EXPECT_EQ(result.code, kExitOk) << result.err;
  EXPECT_EQ(result.err, "");
  return Json::parse(result.out, nullptr, false)["training"];
}

Names NamesIn(const std::string& folder) {
  Names names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // what there is of a process that ends meanwhile
  return text.str();
}

// Each test has its own folder of temporary files, by which its processes are known, too.
class MeasuredRunTest : public testing::Test {
 protected:
  // Runs seven steps, which nothing disturbs, for the tests that compare their own runs with them.
  static void SetUpTestSuite() {
    undisturbed_ = std::make_unique<UndisturbedRun>();
    undisturbed_->training =
        Train("--steps 7 --checkpoint-every 2 --checkpoint-folder " + undisturbed_->folder.path());
  }
  static void TearDownTestSuite() { undisturbed_.reset(); }

  MeasuredRunTest() {
    TinyNetwork();  // whose file is not in the folder
    setenv("TMPDIR", temporary_.path().c_str(), 1);
  }
  ~MeasuredRunTest() override {
    EXPECT_EQ(NamesIn(temporary_.path()), Names());
    EXPECT_EQ(Processes(), 0);
    unsetenv("TMPDIR");
  }

  // Processes of ranks of this test.
  int Processes() const {
    const std::string wanted = "TMPDIR=" + temporary_.path();
    int count = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
      if (!Contents(entry.path() / "cmdline").starts_with(std::getenv("STAGECRAFT_HOST_RANK"))) {
        continue;
      }
      if (Contents(entry.path() / "environ").find(wanted) != std::string::npos) ++count;
    }
    return count;
  }

  struct UndisturbedRun {
    const ScratchFolder folder;  // of its checkpoints
    Json training;
  };
  static inline std::unique_ptr<UndisturbedRun> undisturbed_;

  const ScratchFolder kept_;  // for checkpoints, outside of the other one

 private:
  const ScratchFolder temporary_;
};

// The phases of a history with their steps: "computing 0+2".
Names Phases(const Json& history) {
  Names phases;
  for (const Json& phase : history) {
    phases.push_back(phase["phase"].get<std::string>() + " " + phase["first_step"].dump() + "+" +
                     phase["steps"].dump());
  }
  return phases;
}

// The history of seven steps with a checkpoint after two of them, where rank 1 was killed after
// three steps and rank 0 after six.
void CheckHistory(const Json& training) {
  const Names phases = {"computing 0+2",  "checkpoint 2+0", "computing 2+1",  "detection 3+0",
                        "restart 2+0",    "reload 2+0",     "redone 2+1",     "computing 3+1",
                        "checkpoint 4+0", "computing 4+2",  "detection 6+0",  "restart 4+0",
                        "reload 4+0",     "redone 4+2",     "checkpoint 6+0", "computing 6+1",
                        "checkpoint 7+0"};
  const Json &measured = training["measured"], &predicted = training["predicted"];
  EXPECT_EQ(Phases(measured["history"]), phases);
  EXPECT_EQ(Phases(predicted["history"]), phases);
  for (const Json& history : {measured, predicted}) {
    EXPECT_EQ(history["failures"], 2);
    EXPECT_EQ(history["checkpoints"], 4);
    EXPECT_EQ(history["steps_redone"], 3);
    double lost = 0;
    for (const auto& cause : history["lost_by_cause_ms"].items()) {
      EXPECT_GT(cause.value().get<double>(), 0) << cause.key();
      lost += cause.value().get<double>();
    }
    EXPECT_NEAR(history["lost_ms"].get<double>(), lost, 1e-3);
    EXPECT_NEAR(history["time_ms"].get<double>(), lost + history["useful_ms"].get<double>(), 1e-3);
  }
  EXPECT_DOUBLE_EQ(predicted["lost_by_cause_ms"]["detection"].get<double>(),
                   2 * training["costs"]["detection_ms"].get<double>());
}

TEST_F(MeasuredRunTest, AKilledRunEndsInTheStateOfAnUndisturbedOne) {
  const std::string undisturbed = undisturbed_->folder.path(), killed = kept_.path();
  const Json& first = undisturbed_->training;
  const Json second = Train(
      "--steps 7 --kill 1@step=3,0@step=6 --checkpoint-every 2 --checkpoint-folder " + killed);
  EXPECT_EQ(second["kills"], Json::parse(R"([{"rank":1,"step":3},{"rank":0,"step":6}])"));
  EXPECT_EQ(first["state"].get<std::string>().size(), 16u);
  EXPECT_EQ(first["state"], second["state"]);
  EXPECT_EQ(NamesIn(undisturbed), Names{"step-7"});
  EXPECT_EQ(NamesIn(killed), Names{"step-7"});
  uintmax_t size = 0;
  for (const char* file : {"/step-7/rank-0", "/step-7/rank-1"}) {
    EXPECT_EQ(Contents(undisturbed + file), Contents(killed + file)) << file;
    size += fs::file_size(killed + file);
  }
  constexpr double kHeaders = 2 * 100;  // at most
  EXPECT_NEAR(static_cast<double>(size), first["checkpoint_bytes"].get<double>(), kHeaders);
  CheckHistory(second);
}

TEST_F(MeasuredRunTest, WithoutCheckpointsEverythingIsDoneAgain) {
  const Json training = Train("--steps 7 --kill 0@step=3");
  const Names phases = {"computing 0+3", "detection 3+0", "restart 0+0", "redone 0+3",
                        "computing 3+4"};
  EXPECT_EQ(Phases(training["measured"]["history"]), phases);
  EXPECT_EQ(Phases(training["predicted"]["history"]), phases);
  EXPECT_EQ(training["checkpoint_bytes"], 0);
  EXPECT_EQ(training["state"], undisturbed_->training["state"]);
}

TEST_F(MeasuredRunTest, AStepWithASlowRankIsMeasuredAndPredicted) {
  const CommandResult result =
      RunWords("run --quiet --json --steps 2 --warm-up 0 --slow 1=0.5" + Plan());
  ASSERT_EQ(result.code, kExitOk) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["speeds"], Json::parse("[1.0, 0.5]"));
  EXPECT_GT(report["step_time_ms"].get<double>(), 0);
  EXPECT_GT(report["predicted_step_time_ms"].get<double>(), 0);
  EXPECT_FALSE(report.contains("training"));
}

TEST_F(MeasuredRunTest, AnInterruptedRunLeavesOnlyCompleteCheckpointsAndGoesOn) {
  const std::string flags = "--steps 1000000 --checkpoint-every 2 --checkpoint-folder " +
                            kept_.path() + " --kill 1@step=3";
  // Interrupts the run as soon as it has a checkpoint after four steps.
  std::jthread interrupter([&](const std::stop_token& over) {
    const auto has_four = [&] {
      for (const std::string& name : NamesIn(kept_.path())) {
        if (name.starts_with("step-") && std::atoi(name.c_str() + 5) >= 4) return true;
      }
      return false;
    };
    while (!has_four()) {
      if (over.stop_requested()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    kill(getpid(), SIGTERM);
  });
  const CommandResult result = RunWords("run --json " + flags + Plan());
  interrupter.request_stop();
  interrupter.join();
  ASSERT_EQ(result.code, kExitInterrupted) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_NE(
      result.err.find("rank 1 was killed after step 3: all processes start again from step 2"),
      std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("stopped; the same command goes on from the last checkpoint in " +
                            kept_.path()),
            std::string::npos)
      << result.err;
  const Names left = NamesIn(kept_.path());
  ASSERT_EQ(left.size(), 1u);
  const int step = std::atoi(left[0].c_str() + 5);
  EXPECT_EQ(left[0], "step-" + std::to_string(step));

  // The kill is past, and does not come again.
  const std::string steps = std::to_string(step + 2);
  const CommandResult again = RunWords(
      "run --quiet --json --steps " + steps +
      " --checkpoint-every 2 --kill 1@step=3 --checkpoint-folder " + kept_.path() + Plan());
  ASSERT_EQ(again.code, kExitOk) << again.err;
  const Json report = Json::parse(again.out);
  EXPECT_EQ(report["training"]["first_step"], step);
  EXPECT_EQ(report["training"]["kills"], Json::array());
  EXPECT_EQ(report["notes"][0], "the run went on from its checkpoint after step " +
                                    std::to_string(step) +
                                    ": the kill before that did not happen again");
  EXPECT_EQ(report["training"]["state"],
            Train("--steps " + steps + " --checkpoint-every 1000000")["state"]);
}

TEST_F(MeasuredRunTest, APlainRunCanBeInterruptedToo) {
  std::jthread interrupter([&](const std::stop_token& over) {
    while (Processes() < 2) {
      if (over.stop_requested()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    kill(getpid(), SIGINT);
  });
  EXPECT_EQ(RunWords("run --quiet --steps 1000000" + Plan()).code, kExitInterrupted);
}

TEST_F(MeasuredRunTest, RefusesWhatItCannotRun) {
  const auto refuses = [](const std::string& flags, const std::string& sentence) {
    const CommandResult result = RunWords("run " + flags + Plan());
    EXPECT_EQ(result.code, kExitBadInput) << flags;
    EXPECT_EQ(result.err, "stagecraft run: " + sentence + "\n");
    EXPECT_EQ(result.out, "");
  };
  refuses("--slow 2=0.5", "--slow: got rank 2, want 0 to 1, the ranks of the plan");
  refuses("--steps 4 --kill 2@step=1", "--kill: got rank 2, want 0 to 1, the ranks of the plan");
  refuses("--executor cuda --steps 4 --kill 1@step=1",
          "--kill: got it with --executor cuda, want --executor host");
  refuses("--steps 4 --checkpoint-every 2 --checkpoint-folder /no/such/folder",
          "--checkpoint-folder: got /no/such/folder: No such file or directory, want a folder");

  const std::string flags = "--checkpoint-every 2 --checkpoint-folder " + kept_.path();
  fs::copy(undisturbed_->folder.path(), kept_.path(), fs::copy_options::recursive);
  refuses("--steps 7 " + flags,
          "--checkpoint-folder: " + kept_.path() +
              " has the checkpoint of this run after 7 steps, want more --steps than these, or an "
              "empty folder");
  refuses("--steps 9 --recompute full " + flags,
          "--checkpoint-folder: " + kept_.File("step-7") +
              " is a checkpoint of another run, want an empty folder or one of this plan");
  const std::string file = kept_.File("step-7") + "/rank-1";
  fs::resize_file(file, fs::file_size(file) - 1);
  refuses("--steps 9 " + flags, file + ": got a damaged file, want it as the run wrote it");
  EXPECT_EQ(NamesIn(kept_.path()), Names{"step-7"});
}

TEST_F(MeasuredRunTest, TheTextNamesEveryCauseOfLostTime) {
  const CommandResult result =
      RunWords("run --quiet --steps 4 --slow 0=0.5 --kill 1@step=3 --checkpoint-every 2" + Plan());
  ASSERT_EQ(result.code, kExitOk) << result.err;
  for (const char* text :
       {"rank 0 computes at 0.5 of its speed", "step time predicted", "training run of 4 steps",
        "rank 1 killed after step 3", "measured before the first step: restart", "2 checkpoints",
        "detection", "restart", "reload", "1 step redone", "lost when rank 1 was killed",
        "state of all ranks in the end: "}) {
    EXPECT_NE(result.out.find(text), std::string::npos) << text << '\n' << result.out;
  }
}

}  // namespace
}  // namespace stagecraft
