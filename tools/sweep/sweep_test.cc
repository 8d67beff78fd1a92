// Sweeps as commands: what they keep, whoever divides the work.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/study/study_cache.h"
#include "tools/study/study_evaluator.h"
#include "tools/study/study_point.h"
#include "tools/sweep/run_store.h"
#include "tools/sweep/sweep_testing.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

TEST_F(SweepTest, ARowHoldsWhatSimulatePredictsOfItsPoint) {
  const SweepOutcome swept = Run("sweep $grid.yaml -o $runs.db");
  EXPECT_EQ(swept.code, kExitOk) << swept.err;
  const RunStore store = RunStore::Read(Path("runs.db"));
  StudyCache cache;
  StudyEvaluator evaluator(cache);
  int fit = 0, misfit = 0, refused = 0;
  store.ForEachRow(0, [&](const RunRow& row) {
    const StudyPoint point{Json::parse(row.flags).get<std::map<std::string, std::string>>()};
    const StudyResult result = evaluator.Evaluate(point);
    if (result.is_refused()) {
      ++refused;
      EXPECT_EQ(row.outcome, Outcome::kRefused);
      EXPECT_EQ(row.reason, result.refusal);
      EXPECT_FALSE(row[RunNumber::kStepTime].has_value());
      return;
    }
    EXPECT_EQ(row.outcome == Outcome::kFits, result.evaluation.fits);
    if (!result.evaluation.fits) {
      ++misfit;
      EXPECT_NE(row.reason.find("GiB"), std::string::npos) << row.reason;
      return;
    }
    ++fit;
    EXPECT_EQ(row.reason, "");
    EXPECT_DOUBLE_EQ(*row[RunNumber::kStepTime], result.evaluation.step_time.ms());
    EXPECT_DOUBLE_EQ(*row[RunNumber::kMfu], result.evaluation.mfu());
  });
  EXPECT_EQ(fit, 6);
  EXPECT_EQ(misfit, 6);
  EXPECT_EQ(refused, 12);
  EXPECT_NE(swept.out.find("24 of 24 points of simulate are done: 6 fit, 6 do not fit, 12 are"),
            std::string::npos)
      << swept.out;
}

TEST_F(SweepTest, TheRowsAreTheSameOnAnyNumberOfThreads) {
  const std::string whole = WholeTable();
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 25);
  for (const char* threads : {"2", "7"}) {
    const std::string name = std::string("by") + threads + ".db";
    EXPECT_EQ(Run("sweep $grid.yaml -o $" + name + " --threads " + threads).code, kExitOk);
    EXPECT_EQ(Table(name), whole);
  }
}

TEST_F(SweepTest, FourShardsMergedAreOneSweepInAnyOrder) {
  const std::string whole = WholeTable();
  for (const char* i : {"0", "1", "2", "3"}) {
    const std::string shard = i;
    EXPECT_EQ(Run("sweep $grid.yaml -o $s" + shard + ".db --shard " + shard + "/4").code, kExitOk);
  }
  const SweepOutcome merged = Run("merge $s2.db $s0.db $s3.db $s1.db -o $all.db");
  EXPECT_EQ(merged.code, kExitOk) << merged.err;
  EXPECT_NE(merged.out.find("24 of 24 points\n"), std::string::npos) << merged.out;
  EXPECT_EQ(Table("all.db"), whole);
  const SweepOutcome some = Run("merge $s1.db $s3.db -o $some.db");
  EXPECT_NE(some.out.find("12 of 24 points, 12 are missing"), std::string::npos) << some.out;
}

TEST_F(SweepTest, ShardsCanBeSweptIntoOneFileOneAfterAnother) {
  const std::string whole = WholeTable();
  EXPECT_EQ(Run("sweep $grid.yaml -o $runs.db --shard 1/2").code, kExitOk);
  EXPECT_EQ(Run("sweep $grid.yaml -o $runs.db --shard 0/2").code, kExitOk);
  EXPECT_EQ(Table("runs.db"), whole);
}

// A wider grid takes the 24 rows of the first one, to the byte, and adds its own.
TEST_F(SweepTest, RowsOfAnotherSweepStandForPointsWithTheSameInputs) {
  ASSERT_EQ(Run("sweep $grid.yaml -o $small.db --quiet").code, kExitOk);
  std::string wider = kSmallGrid;
  const std::string batches = "micro-batch: [1, 2, 3]";
  wider.replace(wider.find(batches), batches.size(), "micro-batch: [1, 2, 3, 4]");
  Write("wider.yaml", wider);
  ASSERT_EQ(Run("sweep $wider.yaml -o $fresh.db --quiet").code, kExitOk);
  const SweepOutcome swept = Run("sweep $wider.yaml -o $wider.db --reuse $small.db");
  EXPECT_EQ(swept.code, kExitOk) << swept.err;
  EXPECT_NE(swept.err.find("note: 24 of 32 points are known from other databases\n8 points in"),
            std::string::npos)
      << swept.err;
  EXPECT_EQ(Table("wider.db"), Table("fresh.db"));
  // If all points are known, none is left.
  const SweepOutcome again = Run("sweep $grid.yaml -o $again.db --reuse $wider.db");
  EXPECT_NE(again.err.find("note: 24 of 24 points are known"), std::string::npos) << again.err;
  EXPECT_EQ(again.err.find("points/s"), std::string::npos) << again.err;
  EXPECT_EQ(Table("again.db"), Table("small.db"));
}

TEST_F(SweepTest, OtherInputsAreNotReused) {
  ASSERT_EQ(Run("sweep $grid.yaml -o $small.db --quiet").code, kExitOk);
  std::string other = kSmallGrid;
  other.replace(other.find("seq: 128"), 8, "seq: 256");
  Write("other.yaml", other);
  const SweepOutcome swept = Run("sweep $other.yaml -o $other.db --reuse $small.db");
  EXPECT_EQ(swept.code, kExitOk) << swept.err;
  EXPECT_NE(swept.err.find("note: 0 of 24 points are known"), std::string::npos) << swept.err;
  EXPECT_NE(swept.err.find("24 points in"), std::string::npos) << swept.err;
}

TEST_F(SweepTest, WhatCannotBeReusedIsRefused) {
  Write("plain.db", "no database");
  ExpectRefused("sweep $grid.yaml -o $new.db --reuse $plain.db", "plain.db");
  EXPECT_FALSE(Exists("new.db"));
  ASSERT_EQ(Run("sweep $grid.yaml -o $small.db --quiet").code, kExitOk);
  ExpectRefused("sweep --list $small.db --reuse $small.db", "--reuse: got it with --list");
}

// Sets variables of the environment as long as it exists.
class Setting {
 public:
  explicit Setting(std::vector<std::pair<std::string, std::string>> variables)
      : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Setting() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::string>> variables_;
};

TEST_F(SweepTest, RanksWriteOneDatabaseTogether) {
  const std::string whole = WholeTable();
  for (const char* rank : {"3", "1", "2", "0"}) {
    const Setting setting({{"OMPI_COMM_WORLD_RANK", rank}, {"OMPI_COMM_WORLD_SIZE", "4"}});
    const SweepOutcome swept = Run("sweep $grid.yaml -o $runs.db");
    EXPECT_EQ(swept.code, kExitOk) << swept.err;
    EXPECT_EQ(swept.out.empty(), std::string(rank) != "0") << swept.out;
  }
  EXPECT_EQ(Table("runs.db"), whole);
  EXPECT_FALSE(Exists("runs.db.rank1") || Exists("runs.db.rank2") || Exists("runs.db.rank3"));
}

TEST_F(SweepTest, WhatOtherRanksLeftIsTakenOverWithoutThem) {
  const std::string whole = WholeTable();
  {
    const Setting setting({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
    EXPECT_EQ(Run("sweep $grid.yaml -o $runs.db").code, kExitOk);
  }
  EXPECT_TRUE(Exists("runs.db.rank1"));
  const SweepOutcome alone = Run("sweep $grid.yaml -o $runs.db");
  EXPECT_EQ(alone.code, kExitOk);
  EXPECT_NE(alone.err.find("note: 12 of 24 points are done already"), std::string::npos)
      << alone.err;
  EXPECT_EQ(Table("runs.db"), whole);
  EXPECT_FALSE(Exists("runs.db.rank1"));
}

TEST_F(SweepTest, ATaskOfASlurmArrayWritesAFileOfItsOwnAndSaysSo) {
  const Setting setting({{"SLURM_ARRAY_TASK_ID", "5"},
                         {"SLURM_ARRAY_TASK_COUNT", "3"},
                         {"SLURM_ARRAY_TASK_MIN", "4"}});
  const SweepOutcome swept = Run("sweep $grid.yaml -o $runs.db");
  EXPECT_EQ(swept.code, kExitOk) << swept.err;
  EXPECT_TRUE(Exists("runs.1-of-3.db"));
  EXPECT_FALSE(Exists("runs.db"));
  EXPECT_NE(swept.err.find("note: shard 1/3: SLURM_ARRAY_TASK_ID is 5, the first is 4"),
            std::string::npos)
      << swept.err;
  EXPECT_NE(swept.err.find("runs.1-of-3.db"), std::string::npos) << swept.err;
}

TEST_F(SweepTest, TheSameCommandAgainDoesNothingButReport) {
  const SweepOutcome first = Run("sweep $grid.yaml -o $runs.db");
  const SweepOutcome again = Run("sweep $grid.yaml -o $runs.db");
  EXPECT_EQ(first.out, again.out);
  EXPECT_NE(again.err.find("note: 24 of 24 points are done already"), std::string::npos);
}

TEST_F(SweepTest, ASearchOfEveryPointKeepsItsBestPlan) {
  Write("search.yaml",
        "verb: SEARCH\nflags:\n  model: gpt2\n  cluster: [h100-sxm:1x2, h100-sxm:1x4]\n"
        "  global-batch: 8\n  seq: 256\n  budget: 50evals\n  schedule: 1f1b\n");
  const SweepOutcome swept = Run("sweep $search.yaml -o $runs.db --json --threads 2");
  EXPECT_EQ(swept.code, kExitOk) << swept.err;
  const Json report = Json::parse(swept.out);
  const Json& grid = report["grids"][0];
  EXPECT_EQ(grid["verb"], "search");
  EXPECT_EQ(grid["fit"], 2);
  EXPECT_GT(grid["best"][0]["evaluated"], 0);
  EXPECT_GT(grid["best"][0]["bound_ms"], 0);
  EXPECT_NE(grid["best"][0]["plan"].get<std::string>().find("dp "), std::string::npos);
  EXPECT_EQ(Run("sweep $search.yaml -o $again.db --threads 1").code, kExitOk);
  EXPECT_EQ(Table("again.db"), Table("runs.db"));
}

TEST_F(SweepTest, TheReportRanksByWhatIsAsked) {
  EXPECT_EQ(Run("sweep $grid.yaml -o $runs.db --quiet").code, kExitOk);
  const Json by_time =
      Json::parse(Run("sweep --list $runs.db --json --by step-time --top 2").out)["grids"][0];
  ASSERT_EQ(by_time["best"].size(), 2u);
  EXPECT_LE(by_time["best"][0]["step_time_ms"], by_time["best"][1]["step_time_ms"]);
  EXPECT_EQ(by_time["rows"].size(), 24u);
  double least = 1e300;
  for (const Json& row : by_time["rows"]) {
    if (row["outcome"] == "fits") least = std::min(least, row["step_time_ms"].get<double>());
  }
  EXPECT_EQ(by_time["best"][0]["step_time_ms"].get<double>(), least);
  const Json& model = by_time["varied"][0];
  EXPECT_EQ(model["flag"], "model");
  EXPECT_EQ(model["values"][0]["points"], 12);
  EXPECT_EQ(model["values"][0]["fit"], 6);
  EXPECT_EQ(model["values"][1]["fit"], 0);
  EXPECT_EQ(model["values"][0]["best"].get<double>(), least);
}

// 8 samples of 128 tokens a step, in an hour of 4 GPUs for 2 USD each.
TEST_F(SweepTest, TheReportSaysWhatATrainingRunTakes) {
  EXPECT_EQ(Run("sweep $grid.yaml -o $runs.db --quiet").code, kExitOk);
  const std::string list = "sweep --list $runs.db --tokens 1B ";
  const Json grid =
      Json::parse(Run(list + "--price h100-sxm=2 --by cost --top 3 --json").out)["grids"][0];
  EXPECT_EQ(grid["ranked_by"], "cost_usd");
  double before = 0;
  ASSERT_EQ(grid["best"].size(), 3u);
  for (const Json& row : grid["best"]) {
    const Json& run = row["run"];
    const double seconds = std::ceil(1e9 / (8 * 128)) * row["step_time_ms"].get<double>() / 1000;
    EXPECT_NEAR(run["days"].get<double>(), seconds / 86400, 1e-6 * seconds);
    EXPECT_NEAR(run["gpu_hours"].get<double>(), 4 * seconds / 3600, 1e-6 * seconds);
    EXPECT_NEAR(run["cost_usd"].get<double>(), 8 * seconds / 3600, 1e-6 * seconds);
    EXPECT_NEAR(run["energy_mwh"].get<double>(), 4 * 0.7e-3 * 1.1 * seconds / 3600, 1e-9 * seconds);
    EXPECT_GE(run["cost_usd"].get<double>(), before);
    before = run["cost_usd"];
  }
  EXPECT_EQ(grid["varied"][0]["values"][0]["best"], grid["best"][0]["run"]["cost_usd"]);
  const std::string text = Run(list + "--by days --top 1").out;
  EXPECT_NE(text.find("the best point by days"), std::string::npos) << text;
  EXPECT_NE(text.find("  MWh  "), std::string::npos) << text;
  EXPECT_EQ(text.find("USD"), std::string::npos) << text;
  EXPECT_NE(text.find("times a PUE of 1.1"), std::string::npos) << text;
  for (const auto& [line, error] :
       {std::pair("--by cost", "--by: got cost without --tokens, want both"),
        {"--tokens 1B --by cost", "--by: got cost without --price, want both"},
        {"--price 2", "--price: got it without --tokens, want both or none"},
        {"--tokens 1B --price a100-sxm4-80gb=2",
         "--price: h100-sxm5-80gb of the cluster has none"}}) {
    const SweepOutcome refused = Run("sweep --list $runs.db " + std::string(line));
    EXPECT_EQ(refused.code, kExitBadInput);
    EXPECT_NE(refused.err.find(error), std::string::npos) << refused.err;
  }
  // Before any point is evaluated.
  const std::string sweep = "sweep $grid.yaml -o $priced.db ";
  ExpectRefused(sweep + "--tokens 0", "--tokens: got 0, want more than 0");
  ExpectRefused(sweep + "--tokens 1B --price a100-sxm4-80gb=2",
                "--price: h100-sxm5-80gb of the cluster has none");
  EXPECT_FALSE(std::filesystem::exists(Path("priced.db")));
}

TEST_F(SweepTest, InputsHashesTellFilesApart) {
  Write("config.json",
        "{\"model_type\": \"gpt2\", \"n_embd\": 64, \"n_layer\": 2, \"n_head\": 4, "
        "\"n_positions\": 64, \"vocab_size\": 512}");
  Write("file.yaml", "flags: {model: " + Path("config.json") +
                         ", cluster: h100-sxm:1x1, seq: 64, zero: [0, 1]}\n");
  EXPECT_EQ(Run("sweep $file.yaml -o $runs.db --quiet").code, kExitOk);
  Write("config.json",
        "{\"model_type\": \"gpt2\", \"n_embd\": 64, \"n_layer\": 3, \"n_head\": 4, "
        "\"n_positions\": 64, \"vocab_size\": 512}");
  ExpectRefused("sweep $file.yaml -o $runs.db", "holds points whose files have changed since");
  EXPECT_EQ(Run("sweep $file.yaml -o $other.db --quiet").code, kExitOk);
  const auto first_hash = [&](const std::string& database) {
    std::string hash;
    RunStore::Read(Path(database)).ForEachRow(0, [&](const RunRow& row) {
      if (row.point == 0) hash = row.inputs_hash;
    });
    return hash;
  };
  EXPECT_EQ(first_hash("runs.db").size(), 64u);
  EXPECT_NE(first_hash("runs.db"), first_hash("other.db"));
  ExpectRefused("merge $runs.db $other.db -o $all.db", "files that it names differ");
}

}  // namespace
}  // namespace stagecraft
