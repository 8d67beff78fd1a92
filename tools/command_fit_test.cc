// The verb in process, and what the other verbs make of its models.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "costmodel/check.h"
#include "tools/check_file.h"
#include "tools/command.h"
#include "tools/sample_testing.h"

namespace stagecraft {
namespace {

class FitTest : public SampleVerbTest {
 protected:
  std::string Error(const Args& args) { return ErrorOf(RunFit, args); }

  double ErrorWith(const std::string& model) {
    return Json(RunEvaluate,
                {"--samples", two_, "--cost-model", model})["overall"]["shipped"]["mape"];
  }
};

TEST_F(FitTest, AFittedModelKnowsItsSamplesAndSaysWhatItRestsOn) {
  const nlohmann::json report = Json(RunFit, {"--samples", two_, "-o", Path("model.pb")});
  EXPECT_EQ(report["command"], "fit");
  EXPECT_EQ(report["samples"], 80);
  ASSERT_EQ(report["families"].size(), 2u);
  EXPECT_EQ(report["families"][0]["gpu"], "a100-sxm4-80gb");
  EXPECT_EQ(report["families"][0]["rows"], 40);
  EXPECT_EQ(report["rows_of_no_use"], 0);
  EXPECT_EQ(report["size_bytes"], Read(Path("model.pb")).size());
  EXPECT_EQ(report["provenance"],
            std::string("stagecraft ") + kToolVersion + " fit --samples two.csv (rows: 80 by lab)");
  EXPECT_LT(ErrorWith(Path("model.pb")), 15);

  const FileSummary summary = CheckFile(Path("model.pb"), CheckContext());
  EXPECT_EQ(summary.kind, "cost model");
  EXPECT_TRUE(summary.detail.starts_with("1 families fitted on 2 boards, ")) << summary.detail;
  EXPECT_NE(summary.detail.find("two.csv"), std::string::npos);
}

TEST_F(FitTest, TheSameSamplesGiveTheSameBytesInEitherFormat) {
  Run(RunFit, {"--samples", two_, "-o", Path("a.pb")});
  std::filesystem::create_directories(Path("elsewhere"));
  Write("elsewhere/two.csv", Read(two_));
  Run(RunFit, {"--samples", Path("elsewhere"), "-o", Path("b.pb")});
  EXPECT_FALSE(Read(Path("a.pb")).empty());
  EXPECT_EQ(Read(Path("a.pb")), Read(Path("b.pb")));
  Run(RunFit, {"--samples", two_, "-o", Path("a.textproto")});
  EXPECT_EQ(ErrorWith(Path("a.textproto")), ErrorWith(Path("a.pb")));
  EXPECT_EQ(CheckFile(Path("a.textproto"), CheckContext()).kind, "cost model");
}

TEST_F(FitTest, CalibrationBringsASiteNearerAndSaysWhatChanged) {
  // A board of the same kind that runs a fifth slower.
  const std::string site = Write("site.csv", kSampleHeader + GemmRows("a100-sxm4-80gb", 190));
  Run(RunFit, {"--samples", two_, "-o", Path("base.pb")});
  const nlohmann::json report =
      Json(RunFit, {"--calibrate", site, "--cost-model", Path("base.pb"), "-o", Path("site.pb")});
  const nlohmann::json& calibration = report["calibration"];
  EXPECT_EQ(calibration["gpu"], "a100-sxm4-80gb");
  ASSERT_EQ(calibration["errors"].size(), 1u);
  EXPECT_EQ(calibration["errors"][0]["op"], "gemm");
  EXPECT_EQ(calibration["errors"][0]["rows"], 40);
  EXPECT_LT(calibration["errors"][0]["mean_abs_log_ratio_after"].get<double>(),
            calibration["errors"][0]["mean_abs_log_ratio_before"].get<double>());
  EXPECT_EQ(calibration["changes"].size(), 1u);
  const std::string provenance = report["provenance"];
  EXPECT_NE(provenance.find("site.csv (rows: 40 by lab) on a100-sxm4-80gb; before that stagecraft"),
            std::string::npos)
      << provenance;
  EXPECT_FALSE(report.contains("families"));

  // In one go it is the same but for how the calibrated model was read.
  EXPECT_EQ(Run(RunFit, {"--samples", two_, "--calibrate", site, "-o", Path("both.pb")}), kExitOk);
  EXPECT_NE(out_.str().find("before"), std::string::npos);
  EXPECT_EQ(ErrorWith(Path("both.pb")), ErrorWith(Path("site.pb")));
}

TEST_F(FitTest, TheShippedModelCanBeCalibrated) {
  const std::string site = Write("site.csv", kSampleHeader + GemmRows("a100-sxm4-80gb", 190));
  EXPECT_EQ(Run(RunFit, {"--calibrate", site, "-o", Path("site.pb"), "--quiet"}), kExitOk);
  EXPECT_NE(out_.str().find("calibrated on 40 samples of a100-sxm4-80gb"), std::string::npos);
  EXPECT_EQ(CheckFile(Path("site.pb"), CheckContext()).kind, "cost model");
}

TEST_F(FitTest, WhatIsLeftOutIsCounted) {
  const std::string file =
      Write("more.csv", Read(two_) + "gemm,h100-sxm9-80gb,5,bf16,64,64,64,,lab\n");
  const nlohmann::json report = Json(RunFit, {"--samples", file, "-o", Path("m.pb")});
  EXPECT_EQ(report["skipped"][0]["gpu"], "h100-sxm9-80gb");
  EXPECT_EQ(report["rows_of_no_use"], 0);
  EXPECT_EQ(report["samples"], 81);
}

TEST_F(FitTest, BadInputSaysWhatWasWantedAndWritesNothing) {
  const std::string unknown = Write("unknown.csv", kSampleHeader + GemmRows("h100-sxm9", 600));
  const std::string empty = Write("empty.csv", ""), no_model = Write("empty.pb", "");
  const std::string one = Write("one.csv", kSampleHeader + GemmRows("a100-sxm4-80gb", 190));
  const std::string m = Path("m.pb");
  const std::pair<Args, std::string> cases[] = {
      {{"-o", m}, "--samples: got no file"},
      {{"--cost-model", no_model, "-o", m}, "--samples: got no file"},
      {{"--samples", two_}, "-o: got no file"},
      {{"--samples", two_, "-o", Path("m.bin")}, "-o: got"},
      {{"--samples", two_, "-o", Path("none/m.pb")}, "no such directory"},
      {{"--samples", two_, "--cost-model", no_model, "-o", m}, "--cost-model: got a model"},
      {{"--samples", empty, "-o", m}, "empty.csv"},
      {{"--samples", unknown, "-o", m}, "nothing is left to fit to: h100-sxm9 is not in"},
      {{"--calibrate", two_, "-o", m}, "got samples of a100-sxm4-80gb and h100-sxm5-80gb"},
      {{"--calibrate", unknown, "-o", m}, "--calibrate: " + unknown + ": gpu"},
      {{"--calibrate", one, "--cost-model", no_model, "-o", m}, "empty.pb: got an empty file"},
      {{"--calibrate", one, "--cost-model", one, "-o", m}, "one.csv: got extension"},
      {{"--samples", two_, "--network", "log", "-o", m}, "--network: got samples of kernels too"},
  };
  for (const auto& [args, error] : cases) {
    EXPECT_NE(Error(args).find(error), std::string::npos) << error << "\n" << Error(args);
  }
  EXPECT_FALSE(std::filesystem::exists(m));
}

}  // namespace
}  // namespace stagecraft
