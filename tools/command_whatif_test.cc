#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "tools/verb/command.h"
#include "tools/verb/verb_testing.h"

namespace stagecraft {
namespace {

class CommandWhatIfTest : public VerbTest {
 protected:
  static Args Line(const Args& more) {
    Args args = {"--model", "megatron:8x1024x16", "--cluster", "h100-sxm:2x8", "--pp",
                 "2",       "--global-batch",     "64",        "--seq",        "1024"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  nlohmann::json Report(const Args& more) { return Json(RunWhatIf, Line(more)); }
  std::string ErrorWith(const Args& more) { return ErrorOf(RunWhatIf, Line(more)); }
  // What simulate says with the flags of the base and these.
  nlohmann::json Simulated(const Args& more) { return Json(RunSimulate, Line(more)); }
};

TEST_F(CommandWhatIfTest, EveryRowIsWhatSimulateSays) {
  const auto report =
      Report({"--change", "network=0.5x", "--change", "node1=0.8x", "--change", "gpu=h200-sxm",
              "--change", "global-batch=2x", "--change", "zero=0", "--change", "nodes=2x"});
  EXPECT_EQ(report["command"], "whatif");
  EXPECT_EQ(report["base"]["step_time_ms"], Simulated({})["step_time_ms"]);
  const std::vector<Args> same = {
      {"--scale", "network=0.5"}, {"--slow", "node1=0.8"}, {"--cluster", "h200-sxm:2x8"},
      {"--global-batch", "128"},  {"--zero", "0"},         {"--cluster", "h100-sxm:4x8"}};
  ASSERT_EQ(report["changes"].size(), same.size());
  for (size_t i = 0; i < same.size(); ++i) {
    Args line = Line({});
    for (const char* replaced : {"--cluster", "--global-batch"}) {
      if (same[i][0] != replaced) continue;
      const auto at = std::find(line.begin(), line.end(), replaced);
      line.erase(at, at + 2);
    }
    line.insert(line.end(), same[i].begin(), same[i].end());
    const auto simulated = Json(RunSimulate, line);
    const auto& row = report["changes"][i];
    for (const char* key :
         {"step_time_ms", "step_time_interval_ms", "tokens_per_s", "fits", "peak_memory_gib",
          "gpus", "breakdown_ms", "memory", "memory_margin", "crowded_stages"}) {
      EXPECT_EQ(row[key], simulated[key]) << row["changes"] << key;
    }
    const double base = report["base"]["step_time_ms"];
    EXPECT_NEAR(row["step_time_change_percent"].get<double>(),
                100 * (row["step_time_ms"].get<double>() / base - 1), 1e-9);
  }
  EXPECT_EQ(report["changes"][0]["command_line"],
            "stagecraft simulate --cluster h100-sxm:2x8 --global-batch 64 --model "
            "megatron:8x1024x16 --pp 2 --scale network=0.5 --seq 1024");
}

TEST_F(CommandWhatIfTest, PairsComeAfterSinglesAndLeaveOutWhatCollides) {
  const auto report =
      Report({"--change", "network=0.5x", "--change", "tp=2", "--change", "tp=4", "--pairs"});
  ASSERT_EQ(report["changes"].size(), 5u);  // three singles, two pairs
  EXPECT_EQ(report["changes"][3]["changes"], (nlohmann::json{"network=0.5x", "tp=2"}));
  EXPECT_EQ(report["changes"][4]["changes"], (nlohmann::json{"network=0.5x", "tp=4"}));
  EXPECT_EQ(report["changes"][3]["step_time_ms"],
            Simulated({"--scale", "network=0.5", "--tp", "2"})["step_time_ms"]);
  const std::string why = report["changes"][3]["why"];
  EXPECT_TRUE(why.find(" % together, ") != std::string::npos ||
              why == "as much as one after the other")
      << why;
}

// 16 GPUs can be 16 x 1, but not 16 x 2.
TEST_F(CommandWhatIfTest, APairThatIsRefusedSaysSoAndASingleEndsTheCommand) {
  const auto report = Report({"--change", "tp=8", "--change", "pp=1;dp=16", "--pairs"});
  ASSERT_EQ(report["changes"].size(), 3u);
  const std::string refusal = report["changes"][2]["refusal"];
  EXPECT_NE(refusal.find("16"), std::string::npos) << refusal;
  EXPECT_EQ(report["changes"][2]["why"], refusal);
  EXPECT_EQ(ErrorWith({"--change", "tp=3"}).find("--change tp=3: "), 0u);
  EXPECT_EQ(ErrorWith({"--change", "gpu=h300"}).find("--change gpu=h300: "), 0u);
  EXPECT_EQ(
      ErrorWith({"--change", "node9=0.5x"}).find("--change node9=0.5x: --slow: got \"node9\""), 0u);
  EXPECT_EQ(ErrorWith({"--change", "tp=2", "--change", "tp=2"}),
            "--change tp=2: got it twice, want it once");
  EXPECT_EQ(ErrorWith({"--change", "tq=2"}).find("--change tq=2: \"tq\" is neither "), 0u);
  EXPECT_EQ(ErrorWith({}).find("--change"), 0u) << ErrorWith({});
}

TEST_F(CommandWhatIfTest, ReasonsNameThePartsThatGrewOrSayWhyNothingDid) {
  const auto why = [&](const Args& more, const std::string& change) -> std::string {
    Args args = more;
    args.insert(args.end(), {"--change", change});
    return Report(args)["changes"][0]["why"];
  };
  EXPECT_NE(why({}, "seq=2x").find("on the mean device "), std::string::npos);
  EXPECT_NE(why({}, "seq=2x").find(" more computation"), std::string::npos);
  EXPECT_NE(why({}, "seq=2x").find("the longest wait is "), std::string::npos);
  EXPECT_EQ(why({}, "memory=2x"),
            "no change: the time of a step does not depend on how much memory is free");
  EXPECT_EQ(why({}, "price=2"), "no change: the step does not depend on what it costs");
  EXPECT_EQ(why({}, "pp=2"), "no change: --pp is 2 already");
  EXPECT_EQ(why({}, "node1=1x"), "no change: node1 works at full speed");
  // With tp 8 x pp 2 and one replica, only the pipeline crosses nodes; with one node nothing does.
  Args one_node = {"--model",        "megatron:8x1024x16",
                   "--cluster",      "h100-sxm:1x8",
                   "--global-batch", "64",
                   "--seq",          "1024",
                   "--change",       "network=0.5x"};
  EXPECT_EQ(Json(RunWhatIf, one_node)["changes"][0]["why"],
            "no change: nothing that this plan sends leaves its node");
}

// 2 % of 80 GiB do not hold the weights.
TEST_F(CommandWhatIfTest, WhatNoLongerFitsIsSaid) {
  const auto report = Report({"--change", "memory=0.02x"});
  const auto& row = report["changes"][0];
  EXPECT_EQ(report["base"]["fits"], true);
  EXPECT_EQ(row["fits"], false);
  EXPECT_NE(row["why"].get<std::string>().find("; it no longer fits: stage 1 takes "),
            std::string::npos)
      << row["why"];
}

// 65,536 tokens a step.
TEST_F(CommandWhatIfTest, DaysAndMoneyStandInTheTable) {
  const Args asked = {"--tokens", "1B",           "--price",  "h100-sxm=2,h200-sxm=3",
                      "--change", "gpu=h200-sxm", "--change", "price=0.5x"};
  const auto report = Report(asked);
  const auto run = [&](size_t i) { return report["changes"][i]["cost"]["run"]; };
  const auto& base = report["base"]["cost"]["run"];
  EXPECT_EQ(base["steps"], 15'259);
  EXPECT_NEAR(base["cost_usd"].get<double>(), 2 * base["gpu_hours"].get<double>(), 1e-9);
  EXPECT_NEAR(run(0)["cost_usd"].get<double>(), 3 * run(0)["gpu_hours"].get<double>(), 1e-9);
  EXPECT_EQ(run(1)["days"], base["days"]);
  EXPECT_NEAR(run(1)["cost_usd"].get<double>(), base["cost_usd"].get<double>() / 2, 1e-9);
  const std::string text = Output(RunWhatIf, Line(asked));
  EXPECT_NE(text.find("days"), std::string::npos) << text;
  EXPECT_NE(text.find("MWh"), std::string::npos);
  EXPECT_NE(text.find("USD"), std::string::npos);
  EXPECT_NE(text.find("\nas given "), std::string::npos);
  EXPECT_NE(text.find("\ngpu=h200-sxm "), std::string::npos);
  EXPECT_NE(text.find("\nwhy\n  gpu=h200-sxm: "), std::string::npos);
  EXPECT_EQ(ErrorWith({"--price", "h100-sxm=2", "--change", "gpu=h200-sxm"})
                .find("--change gpu=h200-sxm: --price: h200-sxm"),
            0u)
      << ErrorWith({"--price", "h100-sxm=2", "--change", "gpu=h200-sxm"});
}

TEST_F(CommandWhatIfTest, APipelineThatNeverFlushesHasARow) {
  const auto report = Report({"--change", "schedule=pipedream-2bw"});
  EXPECT_GT(report["changes"][0]["step_time_ms"].get<double>(), 0);
  EXPECT_NE(report["changes"][0]["why"].get<std::string>().find("never flushes"),
            std::string::npos);
}

TEST_F(CommandWhatIfTest, WhatOneSearchKnowsMakesNoDifferenceToTheNext) {
  const Args job = {"--model", "megatron:8x1024x16", "--cluster", "h100-sxm:1x8", "--seq", "1024"};
  const auto best = [&](const Args& more) {
    Args search = job;
    search.insert(search.end(), more.begin(), more.end());
    return Json(RunSearch, search)["plans"][0]["evaluation"]["step_time_ms"];
  };
  const std::vector<std::pair<std::string, Args>> changes = {
      {"memory=0.1x", {"--global-batch=32", "--zero=0,1", "--scale=memory=0.1"}},
      {"zero=3", {"--global-batch=32", "--zero=3"}},
      {"micro-batch=2", {"--global-batch=32", "--zero=0,1", "--micro-batch=2"}},
      {"network=0.5x", {"--global-batch=32", "--zero=0,1", "--scale=network=0.5"}},
      {"no-overlap-grad-reduce", {"--global-batch=32", "--zero=0,1", "--no-overlap-grad-reduce"}},
      {"global-batch=64", {"--global-batch=64", "--zero=0,1"}}};
  Args args = job;
  args.insert(args.end(), {"--best", "--global-batch", "32", "--zero", "0,1"});
  for (const auto& [change, alone] : changes) args.insert(args.end(), {"--change", change});
  const auto report = Json(RunWhatIf, args);
  for (size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(report["changes"][i]["step_time_ms"], best(changes[i].second)) << changes[i].first;
  }
}

TEST_F(CommandWhatIfTest, TheBestPlanIsSearchedAnew) {
  const Args job = {"--model", "megatron:8x1024x16", "--global-batch", "32", "--seq", "1024"};
  Args args = job;
  args.insert(args.end(), {"--best", "--cluster", "h100-sxm:1x8", "--change",
                           "cluster=a100-sxm4-80gb:1x8", "--change", "tp=8"});
  const auto report = Json(RunWhatIf, args);
  const auto best = [&](const Args& more) {
    Args search = job;
    search.insert(search.end(), more.begin(), more.end());
    return Json(RunSearch, search)["plans"][0]["evaluation"]["step_time_ms"];
  };
  EXPECT_EQ(report["base"]["step_time_ms"], best({"--cluster", "h100-sxm:1x8"}));
  EXPECT_EQ(report["base"]["optimal"], true);
  EXPECT_EQ(report["base"]["memory_margin"], 0.05);
  EXPECT_EQ(report["changes"][0]["step_time_ms"], best({"--cluster", "a100-sxm4-80gb:1x8"}));
  EXPECT_EQ(report["changes"][1]["step_time_ms"], best({"--cluster", "h100-sxm:1x8", "--tp", "8"}));
  EXPECT_EQ(report["changes"][1]["plan"]["tp"], 8);
  EXPECT_NE(report["changes"][1]["why"].get<std::string>().find("best plan becomes tp "),
            std::string::npos);
  EXPECT_EQ(report["changes"][0]["command_line"].get<std::string>().find("stagecraft search --"),
            0u);
}

TEST_F(CommandWhatIfTest, WhatASearchCannotAnswerIsRefused) {
  const auto error = [&](const Args& more) {
    Args args = {"--best", "--model", "megatron:8x1024x16", "--cluster", "h100-sxm:1x8",
                 "--seq",  "1024",    "--global-batch",     "32"};
    args.insert(args.end(), more.begin(), more.end());
    return ErrorOf(RunWhatIf, args);
  };
  EXPECT_EQ(error({"--change", "node0=0.8x"}),
            "--change node0=0.8x: a search knows no slow parts, want it without --best");
  EXPECT_EQ(error({"--change", "tp=2", "--top", "3"}),
            "--top: got it with --best, which shows one plan for each change, want search");
  EXPECT_EQ(error({"--change", "top=3"}).find("--change top=3: \"top\" is neither "), 0u);
  EXPECT_EQ(error({"--change", "tp=3"}).find("--change tp=3: "), 0u);
}

// DeepSpeed has no tensor parallelism in pipelines, which only the plans that are found show.
TEST_F(CommandWhatIfTest, TheBestPlanIsOneThatTheFrameworkCanRun) {
  const std::string error =
      ErrorOf(RunWhatIf, Line({"--best", "--for", "deepspeed", "--tp", "2", "--change", "tp=1"}));
  EXPECT_EQ(error.find("--for: of the best "), 0u) << error;
  EXPECT_NE(error.find(" deepspeed can run none"), std::string::npos) << error;
}

TEST_F(CommandWhatIfTest, ASearchIsNeverReplacedByASimulation) {
  EXPECT_EQ(ErrorWith({"--change", "tp=2", "--best=true"}),
            "--best: got it with a value, want it without one");
}

TEST_F(CommandWhatIfTest, FilesThatChangesNameAreInputs) {
  const std::string lab =
      Write("lab.yaml", "name: lab\nnode_groups:\n- {node_type: dgx-h100, count: 4}\n");
  const auto report = Report({"--change", "cluster=" + lab});
  ASSERT_EQ(report["inputs"].size(), 1u);
  EXPECT_EQ(report["inputs"][0]["path"], lab);
  EXPECT_EQ(report["changes"][0]["gpus"], 32);
  EXPECT_EQ(ErrorWith({"--change", "cluster=" + Path("none.yaml")})
                .find("--change cluster=" + Path("none.yaml") + ": "),
            0u);
}

TEST_F(CommandWhatIfTest, APageShowsEveryChangeAndItsReason) {
  const Args line = Line({"--tokens", "1B", "--price", "h100-sxm=2.5", "--change", "network=0.5x",
                          "--change", "memory=0.01x", "--pairs", "--report", Path("page.html")});
  const nlohmann::json report = Json(RunWhatIf, line);
  const std::string page = Read(Path("page.html"));
  for (const nlohmann::json& row : report["changes"]) {
    EXPECT_NE(page.find(row["changes"][0].get<std::string>()), std::string::npos);
    EXPECT_NE(page.find(row["why"].get<std::string>()), std::string::npos) << row["why"];
  }
  EXPECT_NE(page.find("<td data-name=\"fits\">no</td>"), std::string::npos);
  EXPECT_NE(page.find("cost of the GPUs (USD)"), std::string::npos);
  // The page of what was printed has the same tables; what is printed has fewer digits.
  Run(RunReport, {Write("saved.json", report.dump()), "-o", Path("again.html")});
  const auto tables = [](const std::string& text) {
    return text.substr(0, text.find("<h2>Charts"));
  };
  EXPECT_TRUE(tables(Read(Path("again.html"))) == tables(page));
  EXPECT_NE(ErrorOf(RunWhatIf, Line({"--change", "zero=0", "--report", Path("page.txt")}))
                .find("--report"),
            std::string::npos);
}

TEST_F(CommandWhatIfTest, TheSameWordsGiveTheSameBytes) {
  const Args line = Line({"--change", "network=0.5x", "--change", "tp=2", "--pairs"});
  EXPECT_EQ(Output(RunWhatIf, line), Output(RunWhatIf, line));
}

}  // namespace
}  // namespace stagecraft
