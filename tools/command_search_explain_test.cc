// What `search` reports besides the best plans: explanations and Pareto sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "tools/verb/command.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

struct Ran {
  int code = 0;
  std::string out;
};

Ran Search(Args flags) {
  const Args job = {"--model", "megatron:8x1024x16", "--seq", "1024",   "--global-batch",
                    "32",      "--precision",        "fp16",  "--quiet"};
  flags.insert(flags.end(), job.begin(), job.end());
  std::istringstream in;
  std::ostringstream out, err;
  const int code = RunSearch(flags, in, out, err);
  EXPECT_EQ(err.str(), "");
  return {code, out.str()};
}

Json Report(Args flags) {
  flags.emplace_back("--json");
  return Json::parse(Search(std::move(flags)).out);
}

const Args kOneKind = {"--cluster", "h100-sxm:1x8"};
const Args kTwoKinds = {"--cluster", "h100-sxm:1x8+v100-sxm2-16gb:1x8", "--pp", "1,2"};

Args With(Args flags, const Args& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

TEST(SearchExplanationTest, SaysWhyTheSplitWhatTheSecondLosesAndWhatSwaysIt) {
  const Json report = Report(With(kOneKind, {"--pp", "2,4", "--top", "1"}));
  EXPECT_EQ(report["plans"].size(), 1u);  // the explanation still names the second
  const Json& explanation = report["explanation"];
  const Json& split = explanation["split"];
  EXPECT_EQ(split["step_time_ms"], report["plans"][0]["evaluation"]["step_time_ms"]);
  EXPECT_EQ(split["stages"].size(), report["plans"][0]["plan"]["pp"].get<size_t>());
  EXPECT_GE(split["imbalance"].get<double>(), 1);
  for (const Json& stage : split["stages"]) {
    EXPECT_GT(stage["forward_ms"].get<double>(), 0);
    EXPECT_LE(stage["busy_ms"].get<double>(), split["step_time_ms"].get<double>());
  }
  const Json& second = explanation["second"];
  EXPECT_GE(second["loss"].get<double>(), 0);
  double difference = 0;
  for (const auto& [part, time] : second["breakdown_difference_ms"].items()) {
    difference += time.get<double>();
  }
  EXPECT_NEAR(difference, second["loss"].get<double>() * split["step_time_ms"].get<double>(), 1e-5);
  ASSERT_EQ(explanation["sensitivity"].size(), 4u);  // without those of the network between nodes
  for (const Json& change : explanation["sensitivity"]) {
    EXPECT_EQ(change["optimal"], true);
    EXPECT_EQ(change["stays_best"].get<bool>(), change["loss"] == 0.0);
    const bool is_faster = change["factor"].get<double>() > 1;
    const double then = change["old_step_time_ms"];
    EXPECT_EQ(then <= split["step_time_ms"].get<double>(), is_faster) << change;
  }
  EXPECT_EQ(explanation["cut_short"], false);
  EXPECT_FALSE(explanation.contains("mixing"));
  const std::string text = Search(With(kOneKind, {"--pp", "2,4"})).out;
  for (const char* words : {"why this split", "the second-best plan is", "compute +10 %"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words;
  }
}

TEST(SearchExplanationTest, IsLeftOutOnDemandAndCutShortByTheBudget) {
  EXPECT_FALSE(Report(With(kOneKind, {"--no-explain"})).contains("explanation"));
  const Json report = Report(With(kOneKind, {"--budget", "2evals"}));
  if (!report.contains("explanation")) return;  // neither of them fits
  EXPECT_EQ(report["explanation"]["cut_short"], true);
  EXPECT_TRUE(report["explanation"]["sensitivity"].empty());
}

TEST(SearchExplanationTest, SaysWhetherMixingIsWorthIt) {
  for (const char* algorithm : {"auto", "exhaustive"}) {
    const Json report = Report(With(kTwoKinds, {"--algorithm", algorithm}));
    const Json& mixing = report["explanation"]["mixing"];
    ASSERT_EQ(mixing["answers"].size(), 3u);  // each GPU type alone, and both
    double best = 1e300;
    int proven = 0;
    for (const Json& answer : mixing["answers"]) {
      proven += answer["optimal"] == true;
      if (answer["feasible"] == true) best = std::min(best, answer["step_time_ms"].get<double>());
    }
    EXPECT_EQ(best, report["plans"][0]["evaluation"]["step_time_ms"].get<double>());
    // An answer that was found beyond the plan space is not proven.
    EXPECT_EQ(proven, report["optimal"] == true ? 3 : 2) << algorithm;
  }
  const Json report = Report(kTwoKinds);
  const Json& mixing = report["explanation"]["mixing"];
  const std::string sentence = mixing["sentence"];
  EXPECT_EQ(sentence.starts_with("worth it"), mixing["worth_it"].get<bool>()) << sentence;
  EXPECT_NE(Search(kTwoKinds).out.find("is mixing worth it? " + sentence), std::string::npos);
  // Mixing is not worth it if V100s cost nearly nothing and H100s cost a fortune.
  const Json dear = Report(
      With(kTwoKinds, {"--objective", "cost", "--price", "h100-sxm=900,v100-sxm2-16gb=0.01"}));
  EXPECT_EQ(dear["explanation"]["mixing"]["worth_it"], false);
  EXPECT_TRUE(dear["explanation"]["mixing"]["sentence"].get<std::string>().starts_with(
      "not worth it: 1 x v100-sxm2-16gb alone is best; adding h100-sxm5-80gb makes it "))
      << dear["explanation"]["mixing"]["sentence"];
}

TEST(SearchParetoTest, NoPlanOfTheSetBeatsAnother) {
  for (const Args& cluster : {With(kOneKind, {"--fewer-devices"}), kTwoKinds}) {
    const Json report = Report(With(cluster, {"--objective", "pareto"}));
    EXPECT_EQ(report["objective"], "pareto");
    EXPECT_EQ(report["optimal"], true);
    const Json& plans = report["pareto"];
    ASSERT_GT(plans.size(), 1u);
    double last_step = 0;
    for (const Json& a : plans) {
      const double step = a["evaluation"]["step_time_ms"];
      EXPECT_GE(step, last_step);
      last_step = step;
      for (const Json& b : plans) {
        if (a == b) continue;
        EXPECT_FALSE(a["evaluation"]["step_time_ms"] <= b["evaluation"]["step_time_ms"] &&
                     a["cost"]["gpu_hours_per_step"] <= b["cost"]["gpu_hours_per_step"] &&
                     a["memory_share"] <= b["memory_share"]);
      }
    }
  }
}

// Nodes with the same GPU type are not a mixture, even if their numbers of GPUs differ.
TEST(SearchExplanationTest, MixingIsNotMentionedIfThereIsOneGpuType) {
  for (const char* cluster : {"h100-sxm:1x4+h100-sxm:1x2", "h100-sxm:2x1+h100-sxm:1x3"}) {
    const Args flags = {"--cluster", cluster, "--pp", "1,2", "--micro-batch", "2"};
    EXPECT_FALSE(Report(flags)["explanation"].contains("mixing")) << cluster;
    EXPECT_EQ(Search(flags).out.find("is mixing worth it"), std::string::npos) << cluster;
  }
}

TEST(SearchParetoTest, IfNothingFitsItSaysWhatIsMissing) {
  std::istringstream in;
  std::ostringstream out, err;
  const int code = RunSearch({"--model", "llama3-70b", "--cluster", "a100-sxm4-40gb:1x2", "--seq",
                              "4096", "--global-batch", "8", "--quiet", "--objective", "pareto"},
                             in, out, err);
  EXPECT_EQ(code, kExitInfeasible);
  EXPECT_NE(out.str().find("no plan fits; nearest plan: "), std::string::npos);
}

TEST(SearchPriceTest, PricesOfGpuTypesThatTheClusterLacksAreAccepted) {
  const Json report = Report(With(kOneKind, {"--price", "h100-sxm=3,b200-sxm=6", "--no-explain"}));
  EXPECT_TRUE(report["plans"][0]["cost"].contains("cost_usd_per_step"));
}

}  // namespace
}  // namespace stagecraft
