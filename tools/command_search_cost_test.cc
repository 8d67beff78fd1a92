// Tests of what `search` says of money and days: prices, the cheapest plan, the cost of training on
// many tokens.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools/verb/command.h"
#include "tools/verb/verb_testing.h"

namespace stagecraft {
namespace {

class SearchCostTest : public VerbTest {
 protected:
  static Args ToSearch(const std::string& cluster, Args flags) {
    flags.insert(flags.end(), {"--model", "megatron:8x1024x16", "--seq", "1024", "--global-batch",
                               "32", "--cluster", cluster, "--quiet"});
    return flags;
  }
  nlohmann::json Found(const std::string& cluster, const Args& flags) {
    return Json(RunSearch, ToSearch(cluster, flags));
  }
  std::string Refused(const std::string& cluster, const Args& flags) {
    return ErrorOf(RunSearch, ToSearch(cluster, flags));
  }
};

TEST_F(SearchCostTest, PricesMakeDollarsOfSteps) {
  const auto report =
      Found("h100-sxm:1x8", {"--objective", "cost", "--fewer-devices", "--price", "h100-sxm=3"});
  const auto& best = report["plans"][0];
  const double hours = best["cost"]["gpu_hours_per_step"];
  const double usd = best["cost"]["cost_usd_per_step"];
  EXPECT_NEAR(usd, 3 * hours, 1e-9 * usd);
  EXPECT_NEAR(report["bound_cost_usd"].get<double>(), usd, 1e-9 * usd);
  EXPECT_NEAR(best["cost"]["cost_usd_per_billion_tokens"].get<double>(), usd * 1e9 / (32 * 1024),
              1e-6 * usd * 1e9 / (32 * 1024));
  // Without prices the same plan is best, in GPU-hours.
  const auto hourly = Found("h100-sxm:1x8", {"--objective", "cost", "--fewer-devices"});
  EXPECT_EQ(hourly["plans"][0]["cost"]["gpu_hours_per_step"], hours);
  EXPECT_FALSE(hourly["plans"][0]["cost"].contains("cost_usd_per_step"));
}

// 32 samples of 1024 tokens: 10^9 tokens are 30,518 steps.
TEST_F(SearchCostTest, TokensMakeDaysOfEveryPlan) {
  const Args asked = {"--tokens", "1B", "--price", "3", "--top", "2"};
  const auto report = Found("h100-sxm:1x8", asked);
  ASSERT_EQ(report["plans"].size(), 2u);
  for (const auto& plan : report["plans"]) {
    const auto& run = plan["cost"]["run"];
    const double days = 30'518 * plan["evaluation"]["step_time_ms"].get<double>() / 86'400e3;
    EXPECT_NEAR(run["days"].get<double>(), days, 1e-9);
    EXPECT_NEAR(run["cost_usd"].get<double>(), days * 24 * 8 * 3, 1e-6);
  }
  const std::string text = Output(RunSearch, ToSearch("h100-sxm:1x8", asked));
  EXPECT_NE(text.find(" days  "), std::string::npos) << text;
  EXPECT_NE(text.find("\nfor 1B tokens in 30518 steps: "), std::string::npos) << text;
  EXPECT_NE(text.find("\nnote: energy is that of GPUs"), std::string::npos) << text;
}

// If one GPU type costs next to nothing, the other is not used.
TEST_F(SearchCostTest, TheCheaperGpuIsTaken) {
  const std::string cluster = "h100-sxm:1x8+v100-sxm2-16gb:1x8";
  for (const bool is_v100 : {false, true}) {
    const std::string prices =
        is_v100 ? "h100-sxm=500,v100-sxm2-16gb=0.01" : "h100-sxm=0.01,v100-sxm2-16gb=500";
    const auto report = Found(
        cluster, {"--objective", "cost", "--pp", "1,2", "--precision", "fp16", "--price", prices});
    const auto& stages = report["plans"][0]["evaluation"]["memory"];
    ASSERT_FALSE(stages.empty());
    for (const auto& stage : stages) {
      EXPECT_EQ(stage["capacity"].get<double>() < 20.0, is_v100) << stage;  // GiB
    }
  }
}

TEST_F(SearchCostTest, BadPricesAndWhatDoesNotGoTogetherAreOneSentence) {
  EXPECT_EQ(Refused("h100-sxm:1x8", {"--objective", "pareto", "--explain"}),
            "--explain: got it with --objective pareto, which has several best plans, want another "
            "objective");
  const std::string mixed = "h100-sxm:1x8+a100-sxm4-80gb:1x8";
  EXPECT_EQ(
      Refused(mixed, {"--price", "h100-sxm=2"}),
      "--price: a100-sxm4-80gb of the cluster has none; want a price for every GPU type or none");
  EXPECT_TRUE(Refused(mixed, {"--price", "h10-sxm=2"}).starts_with("--price: "));
  EXPECT_NE(Refused(mixed, {"--price", "h10-sxm=2"}).find("did you mean"), std::string::npos);
  EXPECT_EQ(Refused(mixed, {"--price", "h100-sxm=2,h100-sxm5-80gb=3"}),
            "--price: h100-sxm5-80gb has two prices");
  for (const char* price : {"h100-sxm", "h100-sxm=", "h100-sxm=0", "h100-sxm=-1", "h100-sxm=1e999",
                            "h100-sxm=nan", "h100-sxm=2x", "=2"}) {
    EXPECT_TRUE(Refused(mixed, {"--price", price}).starts_with("--price: ")) << price;
  }
}

}  // namespace
}  // namespace stagecraft
