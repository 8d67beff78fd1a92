#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

const Args kJob = {"--model", "megatron:8x1024x16", "--cluster", "h100-sxm:1x8", "--seq",
                   "1024",    "--global-batch",     "32",        "--quiet"};

// Returns what explain prints with `plans` before the flags of the job and `flags` after them.
std::string Explain(Args plans, const Args& flags = {}) {
  plans.insert(plans.end(), kJob.begin(), kJob.end());
  plans.insert(plans.end(), flags.begin(), flags.end());
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(RunExplain(plans, in, out, err), kExitOk);
  EXPECT_EQ(err.str(), "");
  return out.str();
}

nlohmann::json Report(const Args& plans, Args flags = {}) {
  flags.push_back("--json");
  return nlohmann::json::parse(Explain(plans, flags));
}

double Sum(const nlohmann::json& parts) {
  double sum = 0;
  for (const auto& part : parts) sum += part.get<double>();
  return sum;
}

// 32 samples of 1024 tokens: 10^9 tokens are 30,518 steps.
TEST(CommandExplainTest, TokensMakeDays) {
  const auto plan = Report({}, {"--tokens", "1B"})["plans"][0];
  EXPECT_EQ(plan["cost"]["run"]["steps"], 30'518);
  EXPECT_NEAR(plan["cost"]["run"]["days"].get<double>(),
              30'518 * plan["step_time_ms"].get<double>() / 86'400e3, 1e-9);
  EXPECT_NE(Explain({}, {"--tokens", "1B"}).find("\ntraining  1B tokens in 30518 steps: "),
            std::string::npos);
  EXPECT_NE(Explain({"--pp 1", "--pp 4"}, {"--tokens", "1T"}).find("\ntraining, days "),
            std::string::npos);
}

TEST(CommandExplainTest, OpsSayWhatTheirTimesRestOn) {
  const auto plan = Report({}, {"--pp", "4"})["plans"][0];
  ASSERT_GT(plan["ops"].size(), 3u);
  double last = 1e9;
  for (const auto& kind : plan["ops"]) {
    EXPECT_NEAR(Sum(kind["basis"]), 1, 1e-9) << kind;
    EXPECT_GT(kind["ops"], 0);
    EXPECT_LE(kind["time_ms"].get<double>(), last);
    last = kind["time_ms"];
  }
  EXPECT_EQ(plan["ops"][0]["op"], "gemm");
  EXPECT_GT(plan["ops"][0]["basis"]["learned"], 0.1);
  const std::string text = Explain({}, {"--pp", "4"});
  EXPECT_NE(text.find("\nops of the critical rank, and what their times rest on\n"),
            std::string::npos);
  EXPECT_NE(text.find(" % learned"), std::string::npos);
}

TEST(CommandExplainTest, PartsOfAPlanAddUpToItsStep) {
  const auto report = Report({}, {"--pp", "4"});
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["command"], "explain");
  EXPECT_FALSE(report.contains("difference"));
  ASSERT_EQ(report["plans"].size(), 1u);
  const auto& plan = report["plans"][0];
  const double step = plan["step_time_ms"];
  EXPECT_NEAR(Sum(plan["critical_path_ms"]), step, 1e-6);
  EXPECT_NEAR(Sum(plan["breakdown_ms"]), step, 1e-6);
  EXPECT_NEAR(Sum(plan["device_time_ms"]), step, 1e-4);  // each part rounds down
  ASSERT_EQ(plan["stages"].size(), 4u);
  for (const auto& stage : plan["stages"]) EXPECT_NEAR(Sum(stage["device_time_ms"]), step, 1e-4);
  double end = 0;
  for (const auto& run : plan["critical_path"]) {
    EXPECT_EQ(run["from_ms"], end);
    end = run["to_ms"];
  }
  EXPECT_EQ(end, step);
  EXPECT_EQ(plan["critical_path"][0]["starts_after"], "the step begins");
}

TEST(CommandExplainTest, MemoryIsThatOfTheStackAsInSimulate) {
  const Args stack = {"--stack", "fsdp"};
  Args flags = kJob;
  flags.insert(flags.end(), stack.begin(), stack.end());
  flags.push_back("--json");
  std::istringstream in;
  std::ostringstream out, err;
  ASSERT_EQ(RunSimulate(flags, in, out, err), kExitOk);
  const auto simulated = nlohmann::json::parse(out.str());
  EXPECT_EQ(Report({}, stack)["plans"][0]["memory"], simulated["memory"]);
  EXPECT_NE(Report({}, {"--zero", "3"})["plans"][0]["memory"], simulated["memory"]);
}

// At first the last of four stages waits for three forwards, while the first waits for none.
TEST(CommandExplainTest, ThePipelinesBubbleIsWarmUpAndDrain) {
  const auto plan = Report({}, {"--pp", "4"})["plans"][0];
  EXPECT_GT(plan["device_time_ms"]["warm_up"], 0);
  EXPECT_GT(plan["device_time_ms"]["drain"], 0);
  EXPECT_FALSE(plan["waits"].empty());
  EXPECT_GE(plan["waits"][0]["time_ms"], plan["waits"].back()["time_ms"]);
  const auto alone = Report({}, {"--pp", "1"})["plans"][0];
  EXPECT_EQ(alone["device_time_ms"]["warm_up"], 0);
  EXPECT_EQ(alone["device_time_ms"]["drain"], 0);
  EXPECT_EQ(alone["device_time_ms"]["imbalance"], 0);
}

TEST(CommandExplainTest, TheDifferenceIsOfTheTwoPlans) {
  const auto report = Report({"--schedule gpipe", "--vpp 2"}, {"--pp", "4"});
  ASSERT_EQ(report["plans"].size(), 2u);
  const auto& difference = report["difference"];
  const double step_a = report["plans"][0]["step_time_ms"];
  const double step_b = report["plans"][1]["step_time_ms"];
  EXPECT_NEAR(difference["step_time_ms"], step_b - step_a, 1e-6);
  EXPECT_NEAR(Sum(difference["critical_path_ms"]), step_b - step_a, 1e-6);
  EXPECT_NEAR(Sum(difference["breakdown_ms"]), step_b - step_a, 1e-6);
  EXPECT_NEAR(Sum(difference["device_time_ms"]), step_b - step_a, 1e-4);
  // Interleaving shortens warm-up and drain.
  EXPECT_LT(difference["device_time_ms"]["warm_up"], 0);
  const std::string sentence = difference["sentence"];
  EXPECT_NE(sentence.find("less warm-up"), std::string::npos) << sentence;
}

TEST(CommandExplainTest, APlanDiffersInNothingFromItself) {
  const std::string text = Explain({"--pp 2", "--pp 2"});
  EXPECT_NE(text.find("A and B take the same time. Their peak memory is the same."),
            std::string::npos)
      << text;
}

TEST(CommandExplainTest, APlanMayBeAFile) {
  const std::string file = testing::TempDir() + "/explained_plan.yaml";
  std::ofstream(file)
      << "micro_batch: 1\nglobal_batch: 4\nsequence: 64\norder: ONE_FORWARD_ONE_BACKWARD\n"
         "precision: BF16\ngradient_bytes: 4\nstages:\n"
         "  - {chunks: [{first: 0, count: 2}], tensor_parallel: 1, context_parallel: 1, recompute: "
         "NONE, replicas: [{devices: [0]}]}\n"
         "  - {chunks: [{first: 2, count: 2}], tensor_parallel: 1, context_parallel: 1, recompute: "
         "NONE, replicas: [{devices: [1]}]}\n";
  std::istringstream in;
  std::ostringstream out, err;
  const Args args = {file, "--model", "gpt2-tiny", "--cluster", "h100-sxm:1x2", "--json"};
  ASSERT_EQ(RunExplain(args, in, out, err), kExitOk);
  const auto report = nlohmann::json::parse(out.str());
  EXPECT_EQ(report["plans"][0]["label"], file);
  EXPECT_EQ(report["plans"][0]["plan"]["micro_batches"], 4);
  EXPECT_EQ(report["inputs"][0]["path"], file);
}

TEST(CommandExplainTest, TheTextNamesWhatIsWaitedFor) {
  const std::string text = Explain({}, {"--pp", "4"});
  for (const char* words :
       {"critical path", "forward of micro-batch 0, stages 0 to", "by stage, ms", "longest waits",
        "peak memory on stage", "memory (GiB, worst stage first)"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
}

TEST(CommandExplainTest, HelpHasAnExample) {
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(RunExplain({"--help"}, in, out, err), kExitOk);
  EXPECT_NE(out.str().find("Examples:\n  stagecraft explain"), std::string::npos);
}

TEST(CommandExplainTest, ThreePlansAreTooMany) {
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_THROW(RunExplain({"a.yaml", "b.yaml", "c.yaml"}, in, out, err), InputError);
}

}  // namespace
}  // namespace stagecraft
