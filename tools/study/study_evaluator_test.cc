#include "tools/study/study_evaluator.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "tools/report/step_report.h"
#include "tools/study/study_cache.h"
#include "tools/study/study_point.h"
#include "tools/verb/command.h"
#include "tools/verb/print_json.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

// What `simulate` says of a point: the keys of an evaluation, or the sentence of its error.
struct Said {
  std::string refusal;
  Json report;
};

Said Simulate(const StudyPoint& point) {
  Args words{"simulate", "--json", "--quiet"};
  for (const std::string& word : WordsOf(point)) words.push_back(word);
  const Command command{"", "simulate", "", RunSimulate};
  std::istringstream in;
  std::ostringstream out, err;
  if (RunOneOf({&command, 1}, "", words, in, out, err) == kExitOk) {
    return {"", Json::parse(out.str())};
  }
  const std::string prefix = "stagecraft simulate: ";
  EXPECT_TRUE(err.str().starts_with(prefix)) << err.str();
  return {err.str().substr(prefix.size(), err.str().size() - prefix.size() - 1), {}};
}

StudyPoint Gpt2(std::map<std::string, std::string> more = {}) {
  StudyPoint point{{{"model", "gpt2"}, {"cluster", "h100-sxm:1x8"}, {"global-batch", "16"}}};
  for (const auto& [name, value] : more) point.flags[name] = value;
  return point;
}

void ExpectAsSimulated(StudyEvaluator& evaluator, const StudyPoint& point) {
  SCOPED_TRACE(CommandLineOf("simulate", point));
  const StudyResult result = evaluator.Evaluate(point);
  const Said said = Simulate(point);
  EXPECT_EQ(result.refusal, said.refusal);
  if (result.is_refused() || !said.refusal.empty()) return;
  std::ostringstream printed;
  PrintJson(EvaluationToJson(result.evaluation, result.plan, result.base->job.workload,
                             result.base->cluster, result.base->job.margin),
            printed);
  const Json report = Json::parse(printed.str());
  for (const auto& [key, value] : report.items()) EXPECT_EQ(value, said.report[key]) << key;
}

TEST(StudyEvaluatorTest, APointHasTheStepThatSimulatePrints) {
  StudyCache cache;
  StudyEvaluator evaluator(cache);
  const StudyResult result = evaluator.Evaluate(Gpt2({{"tp", "2"}, {"pp", "4"}}));
  EXPECT_EQ(result.refusal, "");
  EXPECT_TRUE(result.evaluation.fits);
  EXPECT_EQ(result.plan.stages.size(), 4u);
  EXPECT_EQ(result.plan.stages[0].tensor_parallel, 2);
  ExpectAsSimulated(evaluator, Gpt2({{"tp", "2"}, {"pp", "4"}}));
}

// Every flag on which a network, a cluster, a cost model or a plan depends, one after another with
// one cache: what is remembered of a point must not reach the next one.
TEST(StudyEvaluatorTest, FlagsOfAPointDoNotReachTheNextOne) {
  StudyCache cache;
  StudyEvaluator evaluator(cache);
  const std::vector<std::map<std::string, std::string>> changes = {
      {},
      {{"model", "gpt2-medium"}},
      {{"attention", "unfused"}},
      {{"frozen", "0-6"}},
      {{"cluster", "a100-sxm4-80gb:1x8"}},
      {{"cluster", "h100-sxm:2x4"}, {"transport", "tcp"}},
      {{"cluster", "h100-sxm:2x4"}},
      {{"cluster", "h100-sxm:2x4"}, {"scale", "network=0.5"}},
      {{"scale", "links=0.5"}},
      {{"scale", "memory=0.01"}},
      {{"scale", "none"}},
      {{"clock", "0.5"}},
      {{"clock", "-1"}},
      {{"host-dispatch", "0"}},
      {{"host-dispatch", "-1"}},
      {{"without", "host-launches"}},
      {{"without", "host-launches,board-power"}},
      {{"slow", "node0/gpu1=0.5"}},
      {{"network", "flow"}},
      {{"network", "flow"}, {"link-rate", "node0/gpu0 -> node0/switch@0=0.25"}},
      {{"cost-model", "analytical"}},
      {{"stack", "megatron-core"}, {"tp", "2"}},
      {{"stack", "megatron-core"}, {"tp", "4"}},
      {{"stack", "deepspeed"}, {"zero", "2"}},
      {{"stack", "deepspeed"}, {"zero", "2"}, {"software-date", "2021-06"}},
      {{"compiled", "true"}},
      {{"pp", "4"}, {"schedule", "zb-auto"}},
      {{"pp", "4"}, {"schedule", "pipedream-2bw"}},
      {{"pp", "2"}, {"vpp", "2"}},
      {{"recompute", "least"}},
      {{"forward-only", "true"}},
      {{"overlap-grad-reduce", "false"}},
      {{"precision", "fp32"}},
      {{"seq", "256"}},
      {{"tp", "3"}},
      {{"tp", "x"}},
      {{"dp", "3"}},
      {{"model", "gpt5"}},
      {{"cluster", "h1000:1x8"}},
      {{"no-such-flag", "1"}},
      {{"software-date", "2021-06"}},
  };
  for (const auto& change : changes) ExpectAsSimulated(evaluator, Gpt2(change));
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    ExpectAsSimulated(evaluator, Gpt2(*change));
  }
}

StudyPoint TooLarge() {
  return {{{"model", "llama2-70b"}, {"cluster", "h100-sxm:1x8"}, {"global-batch", "8"}}};
}

TEST(StudyEvaluatorTest, APlanThatDoesNotFitIsSimulatedUnlessItsTimeIsNotWanted) {
  StudyCache cache;
  StudyEvaluator simulating(cache), sparing(cache, UnfitPlans::kUntimed);
  ExpectAsSimulated(simulating, TooLarge());
  const StudyResult with_time = simulating.Evaluate(TooLarge());
  const StudyResult without = sparing.Evaluate(TooLarge());
  EXPECT_FALSE(with_time.evaluation.fits);
  EXPECT_FALSE(without.evaluation.fits);
  EXPECT_GT(with_time.evaluation.step_time, Duration());
  EXPECT_EQ(without.evaluation.step_time, Duration());
  EXPECT_EQ(with_time.evaluation.memory[0].Peak(), without.evaluation.memory[0].Peak());
}

TEST(StudyEvaluatorTest, PointsOfAllThreadsShareNetworksAndClusters) {
  StudyCache cache;
  StudyEvaluator one(cache), other(cache);
  const StudyResult first = one.Evaluate(Gpt2({{"tp", "2"}}));
  const StudyResult second = other.Evaluate(Gpt2({{"tp", "4"}, {"zero", "0"}}));
  const StudyResult third = other.Evaluate(Gpt2({{"clock", "0.5"}}));
  EXPECT_EQ(first.base, second.base);
  EXPECT_NE(first.base, third.base);
  EXPECT_EQ(first.base->model, third.base->model);
}

TEST(StudyEvaluatorTest, AChangeOfTheClusterCountsBeforeThePlanIsMade) {
  StudyCache cache;
  StudyEvaluator evaluator(cache);
  const ClusterChange halved{
      "half the clock", [](const Cluster& cluster) {
        return cluster.WithDevices([](Device& device) { device.clock_share = 0.5; });
      }};
  const StudyResult changed = evaluator.Evaluate(Gpt2({{"host-dispatch", "0"}}), {halved});
  const StudyResult by_flag = evaluator.Evaluate(Gpt2({{"host-dispatch", "0"}, {"clock", "0.5"}}));
  const StudyResult plain = evaluator.Evaluate(Gpt2({{"host-dispatch", "0"}}));
  EXPECT_EQ(changed.evaluation.step_time, by_flag.evaluation.step_time);
  EXPECT_LT(plain.evaluation.step_time, changed.evaluation.step_time);
}

TEST(StudyPointTest, ItsCommandLineCanBeTyped) {
  const StudyPoint point{
      {{"model", "my model.json"}, {"tp", "8"}, {"compiled", "true"}, {"overlap-p2p", "false"}}};
  EXPECT_EQ(CommandLineOf("simulate", point),
            "stagecraft simulate --compiled --model 'my model.json' --overlap-p2p=false --tp 8");
}

}  // namespace
}  // namespace stagecraft
