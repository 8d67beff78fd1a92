// `run --executor host` with real processes under real mpirun.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "costmodel/proto_file.h"
#include "proto/timeline.pb.h"
#include "runtime/rank_launcher.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/schedule_proto.h"
#include "sim/schedule/timeline.h"
#include "tools/run/host_rank_testing.h"
#include "tools/run/rank_request.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

// Returns the flags of a plan of a network that takes no time.
std::string PlanOn(const std::string& devices) {
  return " --model " + TinyNetwork() +
         " --micro-batch 1 --global-batch 4 --seq 64 --precision fp32 " + devices;
}

std::string TwoStages() { return PlanOn("--cluster h100-sxm:1x2 --pp 2"); }

std::string TempFile(const std::string& name) { return testing::TempDir() + "/" + name; }

// Returns the process of a rank that runs a schedule; 0 if there is none.
pid_t FindRank(int rank) {
  const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream command(entry.path() / "cmdline"), variables(entry.path() / "environ");
    std::string program;
    std::getline(command, program, '\0');
    if (!program.ends_with("stagecraft_host_rank")) continue;
    for (std::string variable; std::getline(variables, variable, '\0');) {
      if (variable == wanted) return static_cast<pid_t>(std::stoi(name));
    }
  }
  return 0;
}

TEST(RunTest, MeasuresEveryTaskOfTheScheduleThatIsSimulated) {
  const std::string measured = TempFile("measured.pb"), simulated = TempFile("simulated.pb");
  const CommandResult run =
      RunWords("run --executor host --json --steps 3 --warm-up 1 -o " + measured + TwoStages());
  ASSERT_EQ(run.code, kExitOk) << run.err;
  ASSERT_EQ(RunWords("simulate --quiet --unfold --timeline " + simulated + TwoStages()).code,
            kExitOk);
  TimelineProto first, second;
  ReadProtoFile(measured, &first);
  ReadProtoFile(simulated, &second);
  EXPECT_EQ(first.schedule().SerializeAsString(), second.schedule().SerializeAsString());

  const Timeline timeline = TimelineFromProto(first);
  const Schedule schedule = ScheduleFromProto(first.schedule());
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    for (const TaskId next : schedule.successors(task)) {
      EXPECT_GE(timeline.start(next), timeline.end(task)) << task << " " << next;
    }
    for (const TaskId next : schedule.next_on_lanes(task)) {
      if (next < 0) continue;
      EXPECT_GE(timeline.start(next), timeline.end(task)) << task << " " << next;
    }
    if (schedule.tag(task).phase == Phase::kForward) {
      EXPECT_GT(timeline.end(task), timeline.start(task)) << task;
    }
  }
  EXPECT_EQ(first.measurement().executor(), "host");
  EXPECT_EQ(first.measurement().step_ns_size(), 3);
  EXPECT_EQ(first.measurement().task_sigma_ns_size(), schedule.task_count());
  EXPECT_GT(first.peak_memory_bytes(1), 1 << 20);
  const nlohmann::json report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report["ranks"], 2);
  EXPECT_EQ(report["tasks"], schedule.task_count());
  EXPECT_DOUBLE_EQ(report["step_time_ms"], timeline.makespan().ms());
  EXPECT_EQ(report["phases"][0]["phase"], "forward");
  EXPECT_EQ(report["phases"][0]["tasks"], 8);
  EXPECT_NE(run.err.find("step 1\n"), std::string::npos) << run.err;
}

TEST(RunTest, TensorRanksAndReplicasExchangeWithinTheirGroups) {
  const CommandResult run = RunWords("run --executor host --quiet --json --steps 1 --warm-up 0" +
                                     PlanOn("--cluster h100-sxm:1x4 --tp 2 --pp 1"));
  ASSERT_EQ(run.code, kExitOk) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["ranks"], 4);
}

TEST(RunTest, AProcessThatDiesIsNamedAndTheOthersStop) {
  std::future<CommandResult> running = std::async(std::launch::async, [] {
    return RunWords("run --executor host --quiet --steps 1000000" + TwoStages());
  });
  pid_t victim = 0;
  for (int i = 0; i < 1000 && victim == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    victim = FindRank(1);
  }
  ASSERT_NE(victim, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // By then it runs steps.
  kill(victim, SIGKILL);
  ASSERT_EQ(running.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  const CommandResult result = running.get();
  EXPECT_EQ(result.code, kExitInternal);
  EXPECT_NE(result.err.find("rank 1: killed by signal 9; all processes were stopped"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(FindRank(0), 0);
}

TEST(RunTest, TooManyProcessesAreRefusedByAll) {
  const std::string simulated = TempFile("two.pb"), schedule = TempFile("schedule.pb");
  ASSERT_EQ(RunWords("simulate --quiet --unfold --timeline " + simulated + TwoStages()).code,
            kExitOk);
  TimelineProto timeline;
  ReadProtoFile(simulated, &timeline);
  WriteFileAtomically(schedule, timeline.schedule().SerializeAsString());
  const std::string out = TempFile("never.pb"), request = TempFile("request.pb");
  WriteFileAtomically(
      request,
      ToProto(RankRequest{.counts = {.warm_up = {}, .measured = {1}}}).SerializeAsString());
  std::vector<std::string> lines;
  const LaunchEnd end =
      LaunchRanks(3, {std::getenv("STAGECRAFT_HOST_RANK"), schedule, request, out},
                  [&](const std::string& line) { lines.push_back(line); });
  EXPECT_EQ(end.exit_code, kExitBadInput);
  EXPECT_EQ(
      lines,
      (std::vector<std::string>{"run: got 3 processes, want 2, one for each rank of the plan"}));
  EXPECT_FALSE(std::filesystem::exists(out));
}

// Sets an environment variable of this process as long as the object exists.
class Set {
 public:
  Set(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Set() { unsetenv(name_); }
  Set(const Set&) = delete;

 private:
  const char* name_;
};

// Tests have no GPU: this one checks what is refused before a GPU is looked for, and that none is
// found.
TEST(RunTest, OnGpusItRefusesInOneSentence) {
  const auto refuses = [](const std::string& flags, const std::string& sentence) {
    const std::string file = TempFile("never.pb");
    const CommandResult result = RunWords("run --executor cuda -o " + file + " " + flags);
    EXPECT_EQ(result.code, kExitBadInput) << flags;
    EXPECT_TRUE(result.err.starts_with("stagecraft run: " + sentence)) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(std::filesystem::exists(file));
  };
  refuses(TwoStages(), "--executor: got a CUDA device, want ");
  refuses("--share-gpu" + TwoStages(), "--executor: got a CUDA device, want ");
  const std::string hosts = PlanOn("--cluster h100-sxm:2x1 --pp 2");
  refuses(hosts, "--cluster: got 2 hosts, want mpirun, srun or torchrun");
  refuses("--share-gpu" + hosts, "--share-gpu: got a plan on 2 hosts, want a plan on one host");
  const Set rank("RANK", "0");
  refuses(TwoStages(), "WORLD_SIZE: got none, want what torchrun sets");
  const Set size("WORLD_SIZE", "4"), local("LOCAL_RANK", "0"), address("MASTER_ADDR", "node0"),
      port("MASTER_PORT", "29500");
  refuses(TwoStages(), "got 4 processes, want 2, one for each rank of the plan");
  const Set two("WORLD_SIZE", "2");
  refuses(TwoStages(), "--executor: got a CUDA device, want ");
}

TEST(RunTest, RefusesWhatItCannotRun) {
  const auto refuses = [](const std::string& flags, const std::string& sentence) {
    const CommandResult result = RunWords("run " + flags);
    EXPECT_EQ(result.code, kExitBadInput) << flags;
    EXPECT_NE(result.err.find(sentence), std::string::npos) << flags << "\n" << result.err;
  };
  refuses("--executor abacus" + TwoStages(), "--executor: got \"abacus\"");
  refuses(
      "--model megatron:4x64x4 --cluster h100-sxm:1x2 --dp 2 --gradient-sync gossip "
      "--sync-peers 1 --global-batch 4 --seq 64",
      "--gradient-sync: got gossip, want all-reduce");
  refuses("--steps 0" + TwoStages(), "--steps: got 0, want 1 or more");
  refuses("--share-gpu" + TwoStages(),
          "--share-gpu: got it with --executor host, want --executor cuda");
  refuses("-o timeline.json" + TwoStages(), "-o: got \"timeline.json\", want a .pb file");
  refuses("-o /no/such/folder/t.pb" + TwoStages(), "whose folder does not exist");
}

}  // namespace
}  // namespace stagecraft
