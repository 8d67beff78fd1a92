// evaluate, run in the test's process on a table of two GPU types with forty GEMMs each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "costmodel/shared_csv.h"
#include "tools/chart/page_testing.h"
#include "tools/verb/command.h"
#include "tools/verb/sample_testing.h"

namespace stagecraft {
namespace {

class EvaluateTest : public SampleVerbTest {
 protected:
  // Returns the report without its wall time.
  nlohmann::json Report(Args args) {
    nlohmann::json report = Json(RunEvaluate, std::move(args));
    EXPECT_GE(report["wall_ms"].get<double>(), 0);
    report.erase("wall_ms");
    return report;
  }
  std::string Error(const Args& args) { return ErrorOf(RunEvaluate, args); }
};

TEST_F(EvaluateTest, NoneJudgesTheShippedModelByEveryRow) {
  const nlohmann::json report = Report({"--samples", two_});
  EXPECT_EQ(report["command"], "evaluate");
  EXPECT_EQ(report["inputs"][0]["path"], two_);
  EXPECT_EQ(report["split"], "none");
  EXPECT_EQ(report["seed"], 1);
  EXPECT_EQ(report["samples"], 80);
  EXPECT_EQ(report["coverage_fraction"], 1);
  ASSERT_EQ(report["groups"].size(), 2u);
  const nlohmann::json& group = report["groups"][0];
  EXPECT_EQ(group["op"], "gemm");
  EXPECT_EQ(group["gpu"], "a100-sxm4-80gb");
  EXPECT_EQ(group["dtype"], "bf16");
  EXPECT_EQ(group["model"], "shipped");
  EXPECT_EQ(group["rows"], 40);
  for (const char* key : {"mape", "median_ape", "p90_ape", "interval80_coverage"}) {
    EXPECT_GE(group[key].get<double>(), 0) << key;
    EXPECT_TRUE(report["overall"]["shipped"].contains(key)) << key;
  }
  EXPECT_TRUE(group["bias"].is_number());
  EXPECT_EQ(report["overall_rows"]["shipped"]["rows"], 80);
  EXPECT_TRUE(report["skipped"].empty());
  EXPECT_EQ(report["warnings"].size(), 1u);
}

TEST_F(EvaluateTest, OverallIsTheMeanOverGroups) {
  const nlohmann::json report = Report({"--samples", two_, "--models", "roofline"});
  const double a = report["groups"][0]["mape"], b = report["groups"][1]["mape"];
  EXPECT_NEAR(report["overall"]["roofline"]["mape"].get<double>(), (a + b) / 2, 1e-9);
  // No kernel beats the roofline.
  EXPECT_LT(report["groups"][0]["bias"].get<double>(), 0);
}

TEST_F(EvaluateTest, SizesAddUpToAllRows) {
  const nlohmann::json report = Report({"--samples", two_, "--models", "roofline"});
  int rows = 0;
  double error = 0;
  for (const nlohmann::json& size : report["by_size"]) {
    EXPECT_LT(size["from_us"].get<double>(), size["to_us"].get<double>());
    rows += size["rows"].get<int>();
    error += size["rows"].get<int>() * size["mape"].get<double>();
  }
  EXPECT_EQ(rows, 80);
  EXPECT_NEAR(error / rows, report["overall_rows"]["roofline"]["mape"].get<double>(), 1e-9);
}

TEST_F(EvaluateTest, EverySplitJudgesItsOwnRowsByAllModels) {
  for (const auto& [split, rows] : std::vector<std::pair<std::string, int>>{
           {"column:split", 16}, {"leave-out:gpu", 80}, {"leave-out:gpu=h100-sxm5-80gb", 40}}) {
    const nlohmann::json report =
        Report({"--samples", two_, "--split", split, "--models", "roofline,ridge"});
    EXPECT_EQ(report["overall_rows"]["ridge"]["rows"], rows) << split;
    EXPECT_EQ(report["overall_rows"]["roofline"]["rows"], rows) << split;
  }
  const nlohmann::json report =
      Report({"--samples", two_, "--split", "random:0.3", "--models", "all"});
  std::set<std::string> models;
  for (const auto& [model, errors] : report["overall"].items()) models.insert(model);
  EXPECT_EQ(models, (std::set<std::string>{"boosted-trees", "interpolation", "ridge", "roofline",
                                           "shipped"}));
}

TEST_F(EvaluateTest, ASampleCountsOnceHoweverOftenACalibrationIsDrawn) {
  const nlohmann::json report = Report({"--samples", two_, "--calibrate", "5"});
  EXPECT_EQ(report["calibrate_rows"], 5);
  EXPECT_EQ(report["overall_rows"]["shipped"]["rows"], 80);
  EXPECT_NE(Error({"--samples", two_, "--calibrate", "40"}).find("--calibrate"), std::string::npos);
}

TEST_F(EvaluateTest, CalibrationStandsBesideWhatItWasWithout) {
  const nlohmann::json plain = Report({"--samples", two_});
  const nlohmann::json report = Report({"--samples", two_, "--calibrate", "5"});
  EXPECT_FALSE(plain["groups"][0].contains("uncalibrated"));
  int worse = 0;
  for (const nlohmann::json& group : report["groups"]) {
    const double without = group["uncalibrated"]["mape"];
    EXPECT_EQ(group["calibration_helps"], group["mape"].get<double>() < without);
    EXPECT_EQ(group["uncalibrated"]["rows"], group["rows"]);
    worse += group["mape"].get<double>() > without ? 1 : 0;
  }
  int said = 0;
  for (const std::string sentence : report["warnings"]) {
    said += sentence.starts_with("calibration makes ") ? 1 : 0;
  }
  EXPECT_EQ(said, worse);
  // In twenty draws, five of forty rows are taken out; those that are left are nearly all rows.
  EXPECT_NEAR(report["overall"]["shipped"]["uncalibrated"]["mape"],
              plain["overall"]["shipped"]["mape"].get<double>(), 1);
}

// Twenty rows of a site make predictions of its collectives worse for groups that few of the rows
// belong to.
TEST_F(EvaluateTest, ASitesCollectivesWithAndWithoutTwentyOfItsRows) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::string table =
      std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/network/collectives_h200_b200.csv.gz";
  const nlohmann::json report = Report({"--network", table, "--calibrate", "20"});
  EXPECT_EQ(report["calibrate_rows"], 20);
  EXPECT_TRUE(report["skipped"].empty());
  size_t worse = 0;
  for (const nlohmann::json& group : report["groups"]) {
    worse += group["mape"] > group["uncalibrated"]["mape"] ? 1 : 0;
    EXPECT_GT(group["measured_bus_bandwidth_gb_per_s"], 0);
    EXPECT_FALSE(group.contains("bus_bandwidth_mape"));
  }
  const nlohmann::json& rows = report["overall_rows"]["shipped"];
  worse += rows["mape"] > rows["uncalibrated"]["mape"] ? 1 : 0;
  EXPECT_GT(worse, 0u);
  EXPECT_EQ(report["warnings"].size(), worse);
}

TEST_F(EvaluateTest, TheSameSeedGivesTheSameBytes) {
  const Args args = {
      "--samples", two_, "--split",  "random:0.3",  "--models", "roofline,interpolation,ridge",
      "--seed",    "7",  "--report", Path("a.html")};
  const nlohmann::json first = Report(args);
  const std::string page = Read(Path("a.html"));
  EXPECT_EQ(first, Report(args));
  EXPECT_EQ(page, Read(Path("a.html")));
  Args others = args;
  others[7] = "8";
  EXPECT_NE(first["groups"], Report(others)["groups"]);
}

TEST_F(EvaluateTest, TheTableNamesGroupsSizesAndWhatIsSkipped) {
  const std::string file =
      Write("three.csv", Read(two_) + "gemm,h100-sxm9-80gb,5,bf16,64,64,64,,<lab>\n");
  EXPECT_EQ(Run(RunEvaluate, {"--samples", file, "--by-size", "--report", Path("b.html")}),
            kExitOk);
  for (const char* part :
       {"81 samples in 1 file, split none, seed 1", "gemm", "overall", "over rows", "10-100 us",
        "skipped\n  h100-sxm9-80gb  1 rows  is neither in the device catalogue nor in a "
        "--cluster"}) {
    EXPECT_NE(out_.str().find(part), std::string::npos) << part << "\n" << out_.str();
  }
  const nlohmann::json report = Report({"--samples", file});
  EXPECT_EQ(report["skipped"][0]["gpu"], "h100-sxm9-80gb");
  EXPECT_EQ(report["skipped"][0]["rows"], 1);
  EXPECT_NE(report["skipped"][0]["reason"].get<std::string>().find("h100-sxm5-80gb"),
            std::string::npos);
  EXPECT_NEAR(report["coverage_fraction"].get<double>(), 80.0 / 81, 1e-12);
}

TEST_F(EvaluateTest, TheReportIsOneWellFormedPageWithCharts) {
  Run(RunEvaluate, {"--samples", two_, "--models", "roofline,shipped", "--report", Path("r.html")});
  const std::string page = Read(Path("r.html"));
  EXPECT_EQ(FindBadMarkup(page), "");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  for (const char* part : {"two.csv", "h100-sxm5-80gb"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  const std::vector<nlohmann::json> charts = ChartsOf(page);
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0]["x"]["label"], "measured time (µs)");
  EXPECT_EQ(charts[0]["y"]["label"], "predicted time (µs)");
  EXPECT_EQ(charts[0]["items"].size(), 80u + 6u);  // the samples, and the ends of three lines
  EXPECT_EQ(charts[1]["x"]["label"], "MAPE (%)");
  EXPECT_EQ(charts[1]["series"].size(), 2u);  // the models
  EXPECT_NE(charts[1]["rows"].dump().find("10-100 us"), std::string::npos);
  EXPECT_EQ(charts[1]["items"].size(), 2 * charts[1]["rows"].size());
  EXPECT_EQ(page.find(folder_.string()), std::string::npos);
}

TEST_F(EvaluateTest, ExceedsTheThreshold) {
  EXPECT_EQ(Run(RunEvaluate, {"--samples", two_, "--max-error", "0%"}), kExitThreshold);
  EXPECT_EQ(Run(RunEvaluate, {"--samples", two_, "--max-error", "100000"}), kExitOk);
}

TEST_F(EvaluateTest, BadFlagsSayWhatWasWanted) {
  const std::string t = two_;
  const std::pair<Args, std::string> cases[] = {
      {{}, "--samples: got no file"},
      {{"--samples", t, "--split", "leave-out:colour"}, "--split: got \"leave-out:colour\""},
      {{"--samples", t, "--split", "half"}, "--split: got \"half\""},
      {{"--samples", t, "--split", "leave-out:gpu=t4-16gb"}, "leaves 80 rows to learn from"},
      {{"--samples", t, "--models", "ship"}, "--models: got \"ship\""},
      {{"--samples", t, "--models", ""}, "--models: got \"\""},
      {{"--samples", t, "--models", "all"}, "--models: got interpolation with --split none"},
      {{"--samples", t, "--calibrate", "0"}, "--calibrate: got 0"},
      {{"--samples", t, "--calibrate", "5", "--split", "random:0.2"}, "--calibrate: got --split"},
      {{"--samples", t, "--calibrate", "5", "--models", "roofline"}, "--calibrate: got --models"},
      {{"--samples", t, "--max-error", "x"}, "--max-error: got \"x\""},
      {{"--samples", t, "--max-error", "5%", "--models", "roofline"}, "--max-error: got --models"},
      {{"--samples", t, "--report", Path("r.txt")}, "--report: got"},
      {{"--samples", t, "--report", Path("none/r.html")}, "no such directory"},
      {{"--samples", t, t}, "given twice"},
      {{"--samples", t, "--network", "log"}, "--samples: got it with --network"},
  };
  for (const auto& [args, error] : cases) {
    EXPECT_NE(Error(args).find(error), std::string::npos) << error << "\n" << Error(args);
  }
}

TEST_F(EvaluateTest, BadFilesAreNamed) {
  const std::string empty = Write("empty.csv", ""), header = Write("header.csv", kSampleHeader);
  const std::string unknown = Write("unknown.csv", kSampleHeader + GemmRows("h100-sxm9", 600));
  EXPECT_NE(Error({"--samples", empty}).find("empty.csv"), std::string::npos);
  EXPECT_NE(Error({"--samples", header}).find("got no samples in"), std::string::npos);
  EXPECT_NE(Error({"--samples", Path("missing.csv")}).find("missing.csv"), std::string::npos);
  const std::string nothing = Error({"--samples", unknown});
  EXPECT_NE(nothing.find("no sample is left to test shipped on: h100-sxm9 is neither in the "
                         "device catalogue nor in a --cluster; no known name is similar"),
            std::string::npos)
      << nothing;
}

TEST_F(EvaluateTest, BadModelFilesAreNamed) {
  const std::tuple<const char*, std::string, const char*> cases[] = {
      {"empty.pb", "", "got an empty file"},
      {"damaged.pb", "\x12\xff\xff", "damaged.pb"},
      {"old.textproto", "schema: 99", "old.textproto: schema: got 99"},
      {"plan.textproto", "micro_batch: 1", "plan.textproto"},
      {"family.textproto", "schema: 2 families { family: \"gem\" }", "families[0].family"},
      {"nothing.textproto", "schema: 2", "families: got none named"},
      {"model.txt", "schema: 2", "got extension \".txt\""},
      {"table.csv", kSampleHeader, "got extension \".csv\""},
  };
  for (const auto& [name, contents, error] : cases) {
    const std::string sentence = Error({"--samples", two_, "--cost-model", Write(name, contents)});
    EXPECT_NE(sentence.find(error), std::string::npos) << error << "\n" << sentence;
    EXPECT_NE(sentence.find(name), std::string::npos) << sentence;
  }
  EXPECT_NE(Error({"--samples", two_, "--split", "random:0.2", "--cost-model", "any.pb"})
                .find("--cost-model: got --split random:0.2"),
            std::string::npos);
}

// Four sizes of one collective, as `source` measured it over `fabric`.
std::string Collectives(const std::string& source, const std::string& fabric, int nodes) {
  std::string text =
      "source,system,gpu_id,node_id,nodes,gpus_per_node,fabric,op,library,algo,dtype,groups,stride,"
      "n_ranks,bytes,time_us,repeat,valid,invalid_reason\n";
  for (const int kib : {64, 256, 1024, 4096}) {
    text += source + ",box,a100-sxm4-80gb,," + std::to_string(nodes) + ",2," + fabric +
            ",all_reduce,nccl,auto,fp16,1,1," + std::to_string(2 * nodes) + "," +
            std::to_string(kib * 1024) + "," + std::to_string(20 + kib / 8) + ",0,1,\n";
  }
  return text;
}

// If constants were chosen in view of a split's figures on a table, that split of that table says
// so.
TEST_F(EvaluateTest, SplitsInWhoseViewConstantsWereChosenSaySo) {
  const std::string known = Write("known.csv", Collectives("vTrain", "NVLink3/NVSwitch", 1));
  const std::string own = Write("own.csv", Collectives("my lab", "NVLink3/NVSwitch", 1));
  for (const char* split : {"leave-out:bytes", "leave-out:bytes=65536"}) {
    const nlohmann::json warned = Report({"--network", known, "--split", split});
    ASSERT_EQ(warned["warnings"].size(), 1u) << split;
    EXPECT_TRUE(warned["warnings"][0].get<std::string>().starts_with(
        "these errors are not those of unseen data, as constants were chosen with this split in "
        "view: "
        "the lengths of the correlations"));
    EXPECT_TRUE(Report({"--network", own, "--split", split})["warnings"].empty()) << split;
  }
  EXPECT_EQ(Run(RunEvaluate, {"--network", known, "--split", "leave-out:bytes"}), kExitOk);
  EXPECT_NE(out_.str().find("\nnote: these errors are not those of unseen data"),
            std::string::npos);
}

TEST_F(EvaluateTest, RowsOverUnknownNetworksAreCounted) {
  const std::string words = "NVLink3/NVSwitch + unknown inter-node network";
  const std::string known = Collectives("my lab", "NVLink3 + 10GbE", 2);
  const std::string file =
      Write("unknown.csv", Collectives("my lab", words, 2) + known.substr(known.find('\n') + 1));
  const nlohmann::json report = Report({"--network", file});
  // They are counted once: other figures agree, and no warning repeats the count.
  const auto unknown = report["network_unknown"].get<int>();
  EXPECT_GT(unknown, 0);
  int skipped = 0;
  for (const auto& row : report["skipped"]) {
    const bool is_unknown = row.dump().find("that is not stated") != std::string::npos;
    if (is_unknown) skipped += row["rows"].get<int>();
  }
  EXPECT_EQ(skipped, unknown);
  for (const auto& warning : report["warnings"]) {
    EXPECT_EQ(warning.dump().find("networks"), std::string::npos) << warning;
  }
  const std::string stated = Write("stated.csv", known);
  EXPECT_EQ(Report({"--network", stated})["network_unknown"], 0);
}

TEST_F(EvaluateTest, ANetworkModelThatMayHaveLearnedFromItsRowsSaysSo) {
  const std::string rows = Write("lab.csv", Collectives("my lab", "NVLink3 + 10GbE", 2));
  const std::string file = testing::TempDir() + "/lab.pb";
  ASSERT_EQ(Run(RunFit, {"--network", rows, "-o", file}), kExitOk);
  for (const Args& flags : {Args{"--network", rows}, {"--network", rows, "--cost-model", file}}) {
    const nlohmann::json report = Report(flags);
    ASSERT_EQ(report["warnings"].size(), 1u) << report["warnings"];
    EXPECT_TRUE(report["warnings"][0].get<std::string>().ends_with(
        "is judged as it is: it may have learned from these very rows"));
  }
  const nlohmann::json left_out = Report({"--network", rows, "--split", "leave-out:bytes"});
  EXPECT_TRUE(left_out["warnings"].empty()) << left_out["warnings"];
}

}  // namespace
}  // namespace stagecraft
