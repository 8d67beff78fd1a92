// Tests that every pipeline schedule with every division of experts, for every mixture of experts
// that has a name, is either simulated or refused in one sentence.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/pipeline/pipeline_schedule.h"
#include "sim/plan/layer_division.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"
#include "tests/bad_input.h"

namespace stagecraft {
namespace {

using bad_input::Result;
using bad_input::RunLine;
using Json = nlohmann::json;

constexpr int kGpus = 32;

std::vector<std::string> MixturesOfExperts() {
  std::vector<std::string> names;
  for (const std::string& name : WorkloadNames()) {
    if (ExpertCount(LoadWorkload(name, AttentionBackend::kFlash)) != 0) names.push_back(name);
  }
  return names;
}

// Expects that the command line is answered, or refused in one sentence; returns whether it was
// answered.
bool ExpectAnswerOrSentence(const std::string& line) {
  const Result result = RunLine(line);
  if (result.code != kExitOk) {
    EXPECT_EQ(result.code, kExitBadInput) << line << "\n" << result.err;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << line << "\n"
                                                                         << result.err;
    return false;
  }
  const Json step = Json::parse(result.out);
  const double time = step["step_time_ms"];
  EXPECT_TRUE(std::isfinite(time) && time > 0) << line;
  EXPECT_LE(step["mfu"].get<double>(), 1) << line;
  EXPECT_LE(step["bubble_fraction"].get<double>(), 1) << line;
  double parts = 0;
  for (const auto& [name, part] : step["breakdown_ms"].items()) {
    EXPECT_GE(part.get<double>(), 0) << line << " " << name;
    parts += part.get<double>();
  }
  EXPECT_NEAR(parts, time, 1e-6 * time) << line;
  return true;
}

TEST(ExpertSchedulesTest, EveryScheduleWithEveryDivisionOfExpertsIsSimulatedOrRefused) {
  const std::vector<std::string> models = MixturesOfExperts();
  ASSERT_GE(models.size(), 5u);
  int asked = 0;
  int answered = 0;
  // Each division is asked about every eighth model, and the next division about the models that
  // follow those. A schedule has nine divisions, so it meets all models, and each division meets
  // other models from schedule to schedule.
  constexpr size_t kTurns = 8;
  size_t turn = 0;
  for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
    const int chunks = LeastChunks(schedule);
    for (const int pipeline : {1, 2, 4}) {
      const int batch = 8 * kGpus / pipeline;  // 8 micro-batches per replica
      for (const int expert : {1, 2, 8}) {
        for (size_t model = turn++ % kTurns; model < models.size(); model += kTurns) {
          ++asked;
          answered += ExpectAnswerOrSentence(fmt::format(
              "simulate --model {} --cluster h100-sxm:{}x8 --seq 256 --micro-batch 1 "
              "--global-batch {} --pp {} --ep {} --schedule {} --vpp {} --cost-model analytical "
              "--json --quiet",
              models[model], kGpus / 8, batch, pipeline, expert, Name(schedule), chunks));
        }
      }
    }
  }
  EXPECT_GT(answered, asked / 2) << "of " << asked;
}

TEST(ExpertSchedulesTest, PassesThatHideExchangesGoWithEverythingElseOrAreRefused) {
  int asked = 0;
  int answered = 0;
  for (const char* more :
       {"", "--zero 1 --overlap-param-gather", "--zero 2", "--zero 3", "--recompute full",
        "--recompute-parts norms,activations", "--fp8-dispatch --expert-sends once-per-node",
        "--offload-activations 1 --host-memory-gib 4096", "--offload-optimizer", "--forward-only",
        "--no-overlap-p2p", "--tp 2 --overlap-tp", "--cp 2", "--without exchange-overlap",
        "--post-validation", "--warmup b", "--order-group 9", "--bucket-bytes 8000000 --unfold",
        "--network flow"}) {
    for (const std::string schedule : {"1f1b", "interleaved", "zb-h1", "dualpipe-v"}) {
      for (const int pipeline : {1, 4}) {
        for (const int batch : {8, 32, 72}) {  // 1 to 9 micro-batches of a pipeline
          for (const int expert : {1, 4}) {
            ++asked;
            answered += ExpectAnswerOrSentence(fmt::format(
                "simulate --model deepseek-v2-lite --cluster h100-sxm:4x8 --seq 256 --micro-batch "
                "1 "
                "--global-batch {} --pp {} --ep {} --schedule {} --vpp {} --overlap-experts {} "
                "--cost-model analytical --json --quiet",
                batch, pipeline, expert, schedule, LeastChunks(*FindPipelineSchedule(schedule)),
                more));
          }
        }
      }
    }
  }
  EXPECT_GT(answered, asked / 10) << "of " << asked;
}

double StepTime(const std::string& line) {
  const Result result = RunLine(line);
  EXPECT_EQ(result.code, kExitOk) << line << "\n" << result.err;
  return result.code == kExitOk ? Json::parse(result.out)["step_time_ms"].get<double>() : 0;
}

// Passes that hide each other's exchanges once made steps of 1F1B up to 75 % longer.
TEST(ExpertSchedulesTest, StepsAreShorterIfPassesHideExchanges) {
  for (const std::string model : {"mixtral-8x7b", "deepseek-v3"}) {
    for (const int pipeline : {4, 8}) {
      for (const int micro_batches : {8, 16, 32, 64}) {
        for (const std::string sends : {"every-copy", "once-per-node"}) {
          for (const std::string schedule : {"1f1b", "interleaved --vpp 2"}) {
            const std::string line = fmt::format(
                "simulate --model {} --cluster h100-sxm:{}x8 --micro-batch 1 --seq 4096 "
                "--global-batch {} --pp {} --ep 8 --expert-sends {} --schedule {} "
                "--rank-order tp-cp-pp-ep-dp --cost-model analytical --json --quiet",
                model, pipeline, 8 * micro_batches, pipeline, sends, schedule);
            EXPECT_LT(StepTime(line + " --overlap-experts"), StepTime(line)) << line;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace stagecraft
