// validate and fit --steps with tables of one's own steps.
#include "tools/own/own_steps.h"

#include <gtest/gtest.h>

#include <string>

#include "tools/verb/verb_testing.h"

namespace stagecraft {
namespace {

class OwnStepsTest : public VerbTest {
 protected:
  double StepSeconds(Args args) {
    args.insert(args.begin(), {"--model", "gpt2-medium", "--cluster", "h100-sxm:1x2"});
    return Json(RunSimulate, args)["step_time_ms"].get<double>() * 1e-3;
  }
};

TEST_F(OwnStepsTest, ARowIsPredictedAsSimulateDoes) {
  const double seconds = StepSeconds({"--global-batch", "8", "--seq", "512"});
  const std::string table =
      Write("steps.csv",
            "name,model,cluster,global_batch,seq,overlap_p2p,seconds,tokens_per_s\n"
            "a,gpt2-medium,h100-sxm:1x2,8,512,,1.0,\n"
            ",gpt2-medium,h100-sxm:1x2,8,512,on,,4096\n");
  const nlohmann::json report = Json(RunValidate, {"--against", table});
  ASSERT_EQ(report["rows"].size(), 2);
  EXPECT_EQ(report["rows"][0]["id"], "a");
  EXPECT_EQ(report["rows"][1]["id"], "steps-002");
  EXPECT_NEAR(report["rows"][0]["predicted"].get<double>(), seconds, 1e-9);
  EXPECT_NEAR(report["rows"][1]["predicted"].get<double>(), 8 * 512 / seconds, 1e-6);
  const nlohmann::json time = {{"factor", 1.0}, {"is_rate", false}};
  const nlohmann::json rate = {{"factor", 8 * 512.0}, {"is_rate", true}};
  EXPECT_EQ(report["rows"][0]["step_metric"], time);
  EXPECT_EQ(report["rows"][1]["step_metric"], rate);
  for (const nlohmann::json& row : report["rows"]) {
    EXPECT_EQ(row["gpus"], 2);
    EXPECT_NE(row["main_part"], "");
  }
}

TEST_F(OwnStepsTest, WhatATableShouldNotHoldIsRefusedInASentence) {
  const auto error = [&](const std::string& text) {
    return ErrorOf(RunValidate, {"--against", Write("steps.csv", text)});
  };
  EXPECT_NE(error("model,cluster,global_bach,seconds\n")
                .find("steps.csv: column \"global_bach\": unknown; did you mean \"global-batch\""),
            std::string::npos);
  EXPECT_NE(error("model,cluster,seconds\n").find("got no row, want a measured step"),
            std::string::npos);
  EXPECT_NE(error("model,cluster,seconds\ngpt2-medium,h100-sxm:1x2,\n")
                .find("row 1 (line 2): got none of seconds and tokens_per_s, want one"),
            std::string::npos);
  EXPECT_NE(error("model,cluster,seconds\ngpt2-medium,h100-sxm:1x2,-1\n")
                .find("column \"seconds\": got \"-1\", want a number above 0"),
            std::string::npos);
  EXPECT_NE(error("model,cluster,overlap_p2p,seconds\ngpt2-medium,h100-sxm:1x2,maybe,1\n")
                .find("column \"overlap-p2p\": got \"maybe\", want on, off or nothing"),
            std::string::npos);
  EXPECT_NE(error("model,cluster,seconds\ngpt2-medium,h100-sxm:1x2:3,1\n").find("row 1 (line 2): "),
            std::string::npos);
  EXPECT_NE(ErrorOf(RunValidate, {"--against",
                                  Write("own.csv",
                                        "model,cluster,seq,global_batch,seconds\n"
                                        "gpt2-medium,h100-sxm:1x1,512,1,1\n"),
                                  "--fit-constants"})
                .find("want them with fit --steps"),
            std::string::npos);
}

TEST_F(OwnStepsTest, AFittedSitePredictsItsStepsBetterThroughCostModel) {
  std::string table = "model,cluster,seq,global_batch,seconds\n";
  for (const int batch : {8, 16, 32}) {
    const double seconds = StepSeconds({"--global-batch", std::to_string(batch), "--seq", "512"});
    table += "gpt2-medium,h100-sxm:1x2,512," + std::to_string(batch) + "," +
             std::to_string(seconds * 1.25) + "\n";
  }
  const std::string steps = Write("steps.csv", table);
  const nlohmann::json report = Json(RunFit, {"--steps", steps, "-o", Path("site.pb"), "--quiet"});
  EXPECT_EQ(report["site"]["most_factors"], 1);
  EXPECT_NEAR(report["site"]["error_percent"]["before"].get<double>(), 20, 0.1);
  EXPECT_LT(report["site"]["error_percent"]["left_out"].get<double>(), 5);
  const nlohmann::json after =
      Json(RunValidate, {"--against", steps, "--cost-model", Path("site.pb")});
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(after["rows"][i]["predicted"].get<double>(),
                report["site"]["rows"][i]["fitted_s"].get<double>(), 1e-6);
  }
  EXPECT_NE(
      ErrorOf(RunFit, {"--steps", Write("two.csv", table.substr(0, table.rfind("gpt2-medium"))),
                       "-o", Path("x.pb")})
          .find("--steps: got 2 measured steps, want at least 3"),
      std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(Path("x.pb")));
}

}  // namespace
}  // namespace stagecraft
