// fit, run in the test's process, and what other verbs do with its models.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/samples/gzip.h"
#include "costmodel/proto_file.h"
#include "costmodel/random.h"
#include "costmodel/shared_csv.h"
#include "proto/cost_model.pb.h"
#include "tools/check/check_file.h"
#include "tools/verb/command.h"
#include "tools/verb/sample_testing.h"

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
  EXPECT_TRUE(summary.detail.starts_with("1 families fitted on 2 GPU types, ")) << summary.detail;
  EXPECT_NE(summary.detail.find("two.csv"), std::string::npos);
}

TEST_F(FitTest, AModelKeepsTheTimesOfItsSamplesButIsNotJudgedByThem) {
  const std::string file = Path("model.pb");
  EXPECT_EQ(Json(RunFit, {"--samples", two_, "-o", file})["measured_ops"], 80);
  EXPECT_NE(CheckFile(file, CheckContext()).detail.find(", 80 measured ops"), std::string::npos);
  CostModelProto proto;
  ReadProtoFile(file, &proto);
  ASSERT_EQ(proto.measured_size(), 2);
  EXPECT_EQ(proto.measured(0).device(), "a100-sxm4-80gb");
  ASSERT_EQ(proto.measured(0).ops_size(), 40);
  // The first row of the table: 128 x 1024 x 1024 in 5.167 us.
  EXPECT_EQ(proto.measured(0).ops(0).op().m(), 128);
  EXPECT_EQ(proto.measured(0).ops(0).time_ns(), 5167);

  const double error = ErrorWith(file);
  EXPECT_GT(error, 0.01);
  proto.clear_measured();
  Write("bare.pb", proto.SerializeAsString());
  EXPECT_EQ(ErrorWith(Path("bare.pb")), error);

  const std::string site = Write("site.csv", kSampleHeader + GemmRows("a100-sxm4-80gb", 190));
  const nlohmann::json calibrated =
      Json(RunFit, {"--calibrate", site, "--cost-model", file, "-o", Path("site.pb")});
  EXPECT_EQ(calibrated["measured_ops"], 80);
  EXPECT_GT(calibrated["calibration"]["errors"][0]["mean_abs_log_ratio_after"], 0);
  ReadProtoFile(Path("site.pb"), &proto);
  EXPECT_EQ(proto.measured(0).ops(0).time_ns(), 5413);
}

TEST_F(FitTest, RowsThatVaryMuchAreWarnedOf) {
  const std::string site = Write("vary.csv",
                                 "gpu,m,n,k,dtype,time_us,spread\n"
                                 "a100-sxm4-80gb,4096,4096,4096,bf16,600,0.3\n"
                                 "a100-sxm4-80gb,2048,4096,4096,bf16,310,0.01\n");
  const nlohmann::json report = Json(RunFit, {"--calibrate", site, "-o", Path("vary.pb")});
  EXPECT_NE(report["calibration"]["warnings"].dump().find(
                "calibration: 1 of 2 rows have a spread above 0.2 over their repeats, 0.3 at most"),
            std::string::npos)
      << report["calibration"];
}

TEST_F(FitTest, WholeCallsAndMoreSamplesThanAFileHoldsAreNotKept) {
  const auto kept = [&](const std::string& text) -> int {
    return Json(RunFit, {"--samples", Write("s.csv", text), "-o", Path("m.pb")})["measured_ops"];
  };
  std::string calls = "kind,gpu,time_us,dtype,m,n,k,times_whole_calls\n";
  for (int m = 1; m <= 60; ++m) {
    calls += fmt::format("gemm,a100-sxm4-80gb,{},bf16,{},1024,1024,1\n", 40 + m, 128 * m);
  }
  EXPECT_EQ(kept(calls), 0);
  std::string many = "kind,gpu,time_us,bytes\n";
  for (int i = 1; i <= 20'001; ++i) {
    many += fmt::format("elementwise,a100-sxm4-80gb,{},{}\n", 4 + i, 1000 * i);
  }
  EXPECT_EQ(kept(many), 0);
}

// Returns a cluster file with a node for each rate; the id of all their devices is "host".
std::string Hosts(const std::vector<double>& rates) {
  std::string text;
  for (const double rate : rates) {
    text += fmt::format(
        "node_groups {{ count: 1 inline_node_type {{ id: 'n' devices: 2 wiring: SWITCHED nics: 1 "
        "intra {{ kind: HOST latency_ns: 2000 bandwidth_bytes_per_s: 7e9 }} "
        "nic {{ kind: NETWORK latency_ns: 5000 bandwidth_bytes_per_s: 1e9 }} "
        "inline_device {{ id: 'host' generation: HOST multiprocessors: 1 boost_clock_hz: 2e9 "
        "fp32_flop_per_s: {0} bf16_flop_per_s: {0} vector_fp32_flop_per_s: {0} "
        "sustained_fraction: 1 memory_bytes: 8000000000 memory_bandwidth_bytes_per_s: 5e9 "
        "l2_bytes: 1000000 }} }} }}\n",
        rate);
  }
  return text;
}

TEST_F(FitTest, AGpuThatTheCatalogueLacksIsTheClusters) {
  const std::string samples = Write("host.csv", kSampleHeader + GemmRows("host", 0.02));
  const std::string cluster = Write("host.textproto", Hosts({3e10, 3e10}));
  const std::string model = Path("m.pb");
  const nlohmann::json fit =
      Json(RunFit, {"--samples", samples, "--cluster", cluster, "-o", model});
  ASSERT_EQ(fit["families"].size(), 1u);
  EXPECT_EQ(fit["families"][0]["family"], "host_product");
  EXPECT_EQ(fit["families"][0]["gpu"], "host");
  EXPECT_EQ(fit["families"][0]["rows"], 40);
  EXPECT_TRUE(fit["skipped"].empty());
  const auto error = [&](const Args& more) -> double {
    Args args = {"--samples", samples, "--cluster", cluster};
    args.insert(args.end(), more.begin(), more.end());
    return Json(RunEvaluate, args)["overall"]["shipped"]["mape"];
  };
  EXPECT_LT(error({"--cost-model", model}), 5);
  EXPECT_GT(error({}), 5);
  EXPECT_EQ(Json(RunFit,
                 {"--calibrate", samples, "--cluster", cluster, "-o", model})["calibration"]["gpu"],
            "host");
}

TEST_F(FitTest, AClusterMustDescribeTheOneDeviceOfTheSamples) {
  const std::string samples = Write("host.csv", kSampleHeader + GemmRows("host", 0.02));
  const std::string unlike = Write("unlike.textproto", Hosts({3e10, 4e10}));
  const std::string m = Path("m.pb");
  EXPECT_EQ(Error({"--samples", samples, "--cluster", unlike, "-o", m}),
            "--cluster: " + unlike + ": got two devices \"host\" that differ, want one");
  EXPECT_TRUE(Error({"--samples", samples, "--cluster", "h100-sxm:1x8", "-o", m})
                  .starts_with("--samples: nothing is left to fit to: host is neither in the "
                               "device catalogue nor in a --cluster; no known name is similar"));
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
  // A GPU of the same type that is a fifth slower.
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

  // Fitting and calibrating at once gives the same model, which was only not written and read
  // between.
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

// On measurements that the shipped model predicts well, calibration on five rows makes the
// prediction of GEMMs worse.
TEST_F(FitTest, RowsThatDoNotShowThatCalibrationHelpsCauseAWarning) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::string table =
      std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/kernels_h200_gb300/gemm_bf16.csv.gz";
  std::istringstream lines(Gunzip(ReadFile(table), table));
  std::string header, line;
  std::getline(lines, header);
  std::map<std::string, std::vector<std::string>> by_gpu;
  while (std::getline(lines, line)) by_gpu[line.substr(0, line.find(','))].push_back(line);
  ASSERT_GE(by_gpu.size(), 2u);
  int said = 0, asked = 0;
  Random random(11);
  for (const auto& [gpu, rows] : by_gpu) {
    for (int draw = 0; draw < 4; ++draw) {
      std::string text = header + "\n";
      for (int row = 0; row < 5; ++row) {
        text += rows[random.Integer(0, static_cast<int64_t>(rows.size()) - 1)] + "\n";
      }
      const std::string site = Write("site.csv", text);
      const nlohmann::json report = Json(RunFit, {"--calibrate", site, "-o", Path("s.pb")});
      ++asked;
      said += report["calibration"]["warnings"].empty() ? 0 : 1;
    }
  }
  EXPECT_GE(said, asked - 1);
}

TEST_F(FitTest, RowsThatShowThatCalibrationHelpsSaySo) {
  const std::string site = Write("site.csv", kSampleHeader + GemmRows("a100-sxm4-80gb", 120));
  const nlohmann::json report = Json(RunFit, {"--calibrate", site, "-o", Path("site.pb")});
  EXPECT_TRUE(report["calibration"]["warnings"].empty()) << report["calibration"].dump();
  const nlohmann::json& held_out = report["calibration"]["held_out"];
  ASSERT_EQ(held_out.size(), 1u);
  EXPECT_TRUE(held_out[0]["shows_gain"]);
  EXPECT_EQ(held_out[0]["rows"], 40);
}

TEST_F(FitTest, TwoRowsAreTooFewToTell) {
  const std::string all = kSampleHeader + GemmRows("a100-sxm4-80gb", 190);
  size_t end = 0;
  for (int line = 0; line < 3; ++line) end = all.find('\n', end) + 1;
  const std::string site = Write("site.csv", all.substr(0, end));
  EXPECT_EQ(Run(RunFit, {"--calibrate", site, "-o", Path("site.pb")}), kExitOk);
  EXPECT_NE(err_.str().find("warning: calibration: 2 rows of gemm are too few to tell"),
            std::string::npos)
      << err_.str();
}

TEST_F(FitTest, OneOrTwoRowsAreTooFewToFitTo) {
  const std::string all = GemmRows("a100-sxm4-80gb", 190);
  const size_t first = all.find('\n') + 1, second = all.find('\n', first) + 1;
  for (const auto& [rows, end] : {std::pair(1, first), std::pair(2, second)}) {
    const std::string samples = Write("few.csv", kSampleHeader + all.substr(0, end));
    EXPECT_EQ(Run(RunFit, {"--samples", samples, "-o", Path("few.pb")}), kExitOk);
    EXPECT_NE(err_.str().find(fmt::format("warning: fit: {} rows of gemm are too few to tell "
                                          "whether a model fitted to them predicts better",
                                          rows)),
              std::string::npos)
        << err_.str();
  }
}

// Times that scatter by a factor of two prove nothing, but by chance one set in ten seems to show a
// gain.
TEST_F(FitTest, AModelFittedToAFewRowsIsWeighedAgainstTheShippedOne) {
  constexpr int kDraws = 12;
  int said = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    Random random = Random(7).Child("rows", static_cast<uint64_t>(draw));
    std::string text = kSampleHeader;
    for (int row = 0; row < 6; ++row) {
      const int64_t m = 256 * random.Integer(1, 16), n = 256 * random.Integer(1, 16);
      const double factor = std::exp2(2 * random.Uniform() - 1);
      const double us = factor * (4 + 2e-6 * static_cast<double>(m * n * 4096) / 240);
      text += fmt::format("gemm,a100-sxm4-80gb,{:.3f},bf16,{},{},4096,,lab\n", us, m, n);
    }
    const std::string samples = Write("few.csv", text);
    const nlohmann::json report = Json(RunFit, {"--samples", samples, "-o", Path("few.pb")});
    ASSERT_EQ(report["held_out"].size(), 1u);
    EXPECT_EQ(report["held_out"][0]["shows_gain"], report["warnings"].empty());
    said += report["warnings"].empty() ? 0 : 1;
  }
  EXPECT_GE(said, kDraws - 3);
}

TEST_F(FitTest, RowsThatTheShippedModelIsFarFromShowThatAFitHelps) {
  const std::string samples = Write("slow.csv", kSampleHeader + GemmRows("a100-sxm4-80gb", 40));
  const nlohmann::json report = Json(RunFit, {"--samples", samples, "-o", Path("slow.pb")});
  EXPECT_TRUE(report["warnings"].empty()) << report["warnings"].dump();
  ASSERT_EQ(report["held_out"].size(), 1u);
  EXPECT_TRUE(report["held_out"][0]["shows_gain"]);
  EXPECT_EQ(report["held_out"][0]["rows"], 40);
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
      {{"--samples", unknown, "-o", m}, "nothing is left to fit to: h100-sxm9 is neither in"},
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
