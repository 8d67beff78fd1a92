// Looks at every chart of every page in a browser without a window, on a wide screen and on a
// narrow one, in light and in dark colours: the labels and units of its axes, how many items it has
// by the JSON of the same answer, and whether all of it can be read. Skipped if no Chromium is
// installed.
#include "tests/page_looks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/bad_input.h"
#include "tests/page_in_browser.h"

namespace stagecraft::bad_input {
namespace {

using nlohmann::json;

constexpr double kLeastContrast = 4.5;  // of text, by WCAG 2.1, level AA
constexpr size_t kAny = static_cast<size_t>(-1);

// What a chart must show: its title and the labels of its axes, with units; the number of its rows,
// 0 for a chart of points; the number of its bars or points, kAny if the JSON does not have it.
struct Facts {
  std::string title, x, y;
  size_t rows = 0;
  size_t items = kAny;
  json series = json::object();  // the numbers of items of some of its series
};

class PageLooksTest : public PageTest {
 protected:
  // Runs the command line, whose page is $T/page.html, and returns its JSON.
  json Answer(const std::string& line) const {
    const Result result = RunLine(Expand(line + " --report $T/page.html --json --quiet"));
    EXPECT_EQ(result.code, kExitOk) << result.err;
    return json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  }

  // Expects exactly these charts, in this order, in four views.
  void ExpectCharts(const std::vector<Facts>& charts) const {
    const std::vector<PageView> views = {{1280, false}, {1280, true}, {480, false}, {480, true}};
    const json seen = RunInViews("page.html", kLookAtPage, views);
    ASSERT_EQ(seen.size(), views.size()) << seen;
    for (size_t i = 0; i < views.size(); ++i) {
      SCOPED_TRACE(std::to_string(views[i].width) + " pixels, " +
                   (views[i].is_dark ? "dark" : "light"));
      ExpectPage(seen[i], views[i]);
      ASSERT_EQ(seen[i]["charts"].size(), charts.size()) << seen[i]["charts"];
      for (size_t chart = 0; chart < charts.size(); ++chart) {
        ExpectChart(seen[i]["charts"][chart], charts[chart]);
      }
    }
  }

 private:
  static void ExpectPage(const json& page, const PageView& view) {
    EXPECT_LE(page["width"], view.width);
    EXPECT_EQ(page["dark"], view.is_dark);
    EXPECT_GE(page["contrast"], kLeastContrast) << page["faintest"];
  }
  static void ExpectChart(const json& chart, const Facts& facts) {
    SCOPED_TRACE(facts.title);
    EXPECT_EQ(chart["title"], facts.title);
    EXPECT_EQ(chart["x"], facts.x);
    EXPECT_EQ(chart["y"], facts.y);
    EXPECT_EQ(chart["rows"], facts.rows);
    if (facts.items != kAny) {
      EXPECT_EQ(chart["items"], facts.items) << chart["series"];
    }
    size_t drawn = 0;
    for (const json& count : chart["series"]) drawn += count.get<size_t>();
    EXPECT_EQ(drawn, chart["items"]);
    EXPECT_GT(drawn, 0u);
    for (const auto& [name, count] : facts.series.items()) {
      EXPECT_EQ(chart["series"].value(name, json()), count) << name << chart["series"];
    }
    EXPECT_EQ(chart["problems"], json::array());
  }
};

// How many of the values of an object are above 0.
size_t CountPositive(const json& values) {
  size_t count = 0;
  for (const json& value : values) count += value.get<double>() > 0 ? 1 : 0;
  return count;
}

const std::string kJob =
    " --model llama2-7b --cluster h100-sxm:2x4 --global-batch 32 --seq 2048 --cost-model "
    "analytical ";
const std::string kPlan = "--tp 2 --pp 2 --dp 2 --micro-batch 1 ";

Facts Placement(const json& placement, size_t nodes) {
  size_t places = 0;
  for (const json& copy : placement) places += copy["devices"].size();
  return {"The plan: stages over devices", "GPU of the node (its number)", "", nodes, places};
}

Facts Memory(const json& stages) {
  size_t parts = 0;
  for (const json& stage : stages) {
    for (const char* part : {"weights", "gradients", "optimizer", "activations", "workspace",
                             "communication", "framework", "fragmentation"}) {
      if (stage[part].get<double>() > 0) ++parts;
    }
  }
  return {"Memory of the stages", "memory (GiB)",        "",
          stages.size(),          parts + stages.size(), {{"capacity", stages.size()}}};
}

// The charts of a step of two stages, each of two copies that run 16 micro-batches.
std::vector<Facts> StepCharts(const json& step) {
  return {Placement(step["placement"], 2),
          // One copy of each stage is drawn, with its own passes and its exchanges with the other.
          {"Passes of the pipeline",
           "time since the step began (ms)",
           "",
           4,
           kAny,
           {{"forward", 32}, {"backward", 32}, {"optimizer", 2}}},
          {"What the stages spend the step on",
           "time (ms)",
           "",
           2,
           kAny,
           {{"forward", 2}, {"backward", 2}, {"idle", 2}}},
          {"The step by parts", "time (ms)", "", 1, CountPositive(step["breakdown_ms"])},
          Memory(step["memory"])};
}

TEST_F(PageLooksTest, AStep) {
  ExpectCharts(StepCharts(Answer("simulate" + kJob + kPlan + "--tokens 1T --measured 2s")));
}

TEST_F(PageLooksTest, AStepOnTwoGpuTypes) {
  const json step = Answer(
      "simulate --model llama2-7b --cluster h100-sxm:1x4+a100-sxm4-80gb:1x4 --global-batch 32 "
      "--seq 2048 --cost-model analytical --tp 2 --pp 2 --dp 2 --micro-batch 1");
  // Each stage is on a node of its own.
  std::vector<Facts> charts = StepCharts(step);
  charts[0].series = {{"stage 0", 2}, {"stage 1", 2}};
  ExpectCharts(charts);
}

TEST_F(PageLooksTest, WhatChangesDoToAStep) {
  const json answer = Answer("whatif" + kJob + kPlan +
                             "--tokens 1T --price h100-sxm=2.5 --change network=0.5x --change "
                             "memory=0.1x --change tp=1;pp=4;micro-batch=2 --pairs");
  std::vector<json> rows = {answer["base"]};
  for (const json& change : answer["changes"]) rows.push_back(change);
  size_t parts = 0, gains = 0, losses = 0, fitting = 0;
  for (const json& row : rows) {
    parts += CountPositive(row["breakdown_ms"]);
    const double gain = row.value("tokens_per_s_change_percent", 0.0);
    gains += gain > 0 ? 1 : 0;
    losses += gain < 0 ? 1 : 0;
    fitting += row["fits"].get<bool>() ? 1 : 0;
  }
  const size_t count = rows.size();
  ASSERT_EQ(count, 7u);
  ExpectCharts({{"Step time",
                 "step time (ms)",
                 "",
                 count,
                 count,
                 {{"fits", fitting}, {"does not fit into memory", count - fitting}}},
                {"Throughput gained or lost",
                 "change of throughput (%)",
                 "",
                 count - 1,
                 gains + losses,
                 {{"more", gains}, {"less", losses}}},
                {"Days and cost of the training run",
                 "time (days)",
                 "cost of the GPUs (USD)",
                 0,
                 count,
                 {{"as given", 1}, {"changed", count - 1}}},
                {"The steps by parts", "time (ms)", "", count, parts},
                {"Memory of the fullest device",
                 "memory (GiB)",
                 "",
                 count,
                 2 * count,
                 {{"usable", count}, {"peak", count}}}});
}

TEST_F(PageLooksTest, ASavedStep) {
  const Result saved =
      RunLine(Expand("simulate" + kJob + kPlan + "--timeline $T/step.pb --json --quiet"));
  ASSERT_EQ(saved.code, kExitOk) << saved.err;
  Write("step.json", saved.out);
  ASSERT_EQ(RunLine(Expand("report $T/step.json $T/step.pb -o $T/page.html")).code, kExitOk);
  ExpectCharts(StepCharts(json::parse(saved.out)));
}

TEST_F(PageLooksTest, WhatAStepWaitsFor) {
  const json plan = Answer("explain" + kJob + kPlan)["plans"][0];
  std::vector<Facts> charts = StepCharts(plan);
  size_t times = 0;
  for (const json& stage : plan["stages"]) times += CountPositive(stage["device_time_ms"]);
  const size_t runs = plan["critical_path"].size();
  const size_t waits = std::min<size_t>(20, plan["waits"].size());
  const size_t mechanisms = plan["mechanisms"].size();
  charts.push_back({"What devices do with their time", "time (ms)", "", 2, times});
  charts.push_back({"The critical path", "time since the step began (ms)", "run", runs, runs});
  charts.push_back({"What stages wait for", "time (ms)", "", waits, waits});
  charts.push_back({"What mechanisms add to the step", "time (ms)", "", mechanisms, mechanisms});
  ExpectCharts(charts);
}

// The charts of the plans that a search found, and of its course.
std::vector<Facts> PlanCharts(const json& answer, const json& plans) {
  size_t parts = 0, points = 0;
  const json curves = answer.value("curves", json::object());
  for (const json& plan : plans) parts += CountPositive(plan["evaluation"]["breakdown_ms"]);
  for (const json& curve : curves) points += curve.empty() ? 0 : curve.size() + 1;
  std::vector<Facts> charts = {
      {"Step time and memory", "step time (ms)", "peak memory (GiB)", 0, plans.size()},
      {"Step time and cost", "step time (ms)", "cost (GPU-hours per 10⁹ tokens)", 0, plans.size()},
      {"The steps of the plans by parts", "time (ms)", "plan", plans.size(), parts}};
  if (points > 0) {
    charts.push_back({"Best so far, over evaluations", "evaluations", "step time (ms)", 0, points});
    charts.push_back({"Best so far, over time", "time (s)", "step time (ms)", 0, points});
  }
  return charts;
}

// The charts of the first plan: the rows of its passes depend on what was found.
void AddFirstPlan(const json& answer, const json& looks, std::vector<Facts>& charts) {
  const json& best = answer["plans"][0]["evaluation"];
  charts.push_back(Placement(answer["placement"], looks["nodes"]));
  const size_t stages = best["memory"].size();
  charts.push_back(
      {"Passes of the pipeline", "time since the step began (ms)", "", looks["lanes"]});
  charts.push_back(
      {"What the stages spend the step on", "time (ms)", "", stages, kAny, {{"idle", stages}}});
  charts.push_back(Memory(best["memory"]));
}

TEST_F(PageLooksTest, PlansAndTheirSensitivity) {
  const json answer = Answer("search" + kJob + "--explain --top 2");
  std::vector<Facts> charts = PlanCharts(answer, answer["plans"]);
  const size_t changes = answer["explanation"]["sensitivity"].size();
  charts.push_back(
      {"Sensitivity of the best plan", "change of the step time (ms)", "", changes / 2, changes});
  const size_t stages = answer["plans"][0]["evaluation"]["memory"].size();
  AddFirstPlan(answer, {{"nodes", 2}, {"lanes", 2 * stages}}, charts);
  ExpectCharts(charts);
}

TEST_F(PageLooksTest, AlgorithmsOnAMixedCluster) {
  const json answer = Answer(
      "search --model gpt2 --cluster h100-sxm:1x4+a100-sxm4-80gb:1x4 --global-batch 32 --seq 512 "
      "--cost-model analytical --compare-algorithms --top 3 --budget 40evals");
  std::vector<Facts> charts = PlanCharts(answer, answer["plans"]);
  const json& best = answer["plans"][0]["evaluation"];
  std::set<std::string> nodes;
  for (const json& copy : answer["placement"]) {
    for (const json& name : copy["devices"]) {
      nodes.insert(name.get<std::string>().substr(0, name.get<std::string>().find('/')));
    }
  }
  const size_t stages = best["memory"].size();
  AddFirstPlan(answer, {{"nodes", nodes.size()}, {"lanes", 2 * stages}}, charts);
  ExpectCharts(charts);
}

TEST_F(PageLooksTest, PlansThatNoneBeats) {
  const json answer = Answer("search" + kJob + "--objective pareto --budget 100evals");
  std::vector<Facts> charts = PlanCharts(answer, answer["pareto"]);
  const json& best = answer["pareto"][0]["evaluation"];
  const size_t stages = best["memory"].size();
  json first = {{"plans", {{{"evaluation", best}}}}, {"placement", answer["placement"]}};
  AddFirstPlan(first, {{"nodes", 2}, {"lanes", 2 * stages}}, charts);
  ExpectCharts(charts);
}

TEST_F(PageLooksTest, ASweep) {
  Write("grid.yaml",
        "flags:\n  model: gpt2\n  cluster: [h100-sxm:1x1, h100-sxm:1x2, h100-sxm:1x4]\n"
        "  seq: 512\n  tp: [1, 2]\n  global-batch: [8, 16]\n  micro-batch: 1\n"
        "  cost-model: analytical\n");
  const json answer = Answer("sweep $T/grid.yaml -o $T/runs.db --threads 1");
  const size_t fit = answer["grids"][0]["fit"];
  const std::string per_gpu = "throughput (tokens/s per GPU)";
  const std::vector<Facts> charts = {
      {"Throughput and GPUs", "GPUs", "throughput (tokens/s)", 0, fit, {{"not beaten", 3}}},
      {"Throughput and memory", "peak memory (GiB)", "throughput (tokens/s)", 0, fit},
      {"Best throughput by --cluster", per_gpu, "--cluster", 3, 3},
      {"Best throughput by --global-batch", per_gpu, "--global-batch", 2, 2},
      {"Best throughput by --tp", per_gpu, "--tp", 2, 2}};
  ExpectCharts(charts);
  ASSERT_EQ(RunLine(Expand("report $T/runs.db -o $T/page.html")).code, kExitOk);
  ExpectCharts(charts);
}

TEST_F(PageLooksTest, MeasuredStepsBesidePredictedOnes) {
  const auto row = [](const std::string& id, const std::string& metric, const std::string& value) {
    return id + ",lab,4,1024,16,1024,16,4,1,1,4,4,a100-sxm4-80gb,1,4,megatron-2021,gpt,fp16," +
           metric + ",max," + value + ",1,1\n";
  };
  const std::string rows =
      "id,source,layers,hidden,heads,seq,global_batch,micro_batch,tp,pp,dp,n_gpus,gpu_id,n_nodes,"
      "gpus_per_node,stack,model_kind,dtype,metric_kind,rank,value_norm,primary,scored\n" +
      row("a", "step_time", "0.1") + row("b", "tokens_per_s", "300000") +
      row("c", "peak_memory_allocated", "6e9");
  Write("rows.csv", rows);
  Answer("validate --against $T/rows.csv");
  const json lines = {{"as measured", 2}, {"10 % more", 2}, {"10 % less", 2}};
  ExpectCharts({{"Times: predicted and measured", "measured step time (s)",
                 "predicted step time (s)", 0, 2 + 6, lines},
                {"Memory: predicted and measured", "measured peak memory (GiB)",
                 "predicted peak memory (GiB)", 0, 1 + 6, lines}});
}

TEST_F(PageLooksTest, KernelsBesidePredictedOnes) {
  std::string samples = "kind,dtype,m,n,k,gpu,time_us,name,source\n";
  for (const int m : {512, 1024, 2048, 4096, 8192}) {
    samples += "gemm,bf16," + std::to_string(m) + ",4096,4096,a100-sxm4-80gb," +
               std::to_string(0.15 * m) + ",linear,invented\n";
  }
  Write("samples.csv", samples);
  Answer("evaluate --samples $T/samples.csv");
  ExpectCharts({{"Predicted and measured times",
                 "measured time (µs)",
                 "predicted time (µs)",
                 0,
                 5 + 6,
                 {{"a100-sxm4-80gb", 5}, {"10 % more", 2}, {"10 % less", 2}}},
                {"Mean error by measured time", "MAPE (%)", "measured time", 3, 3}});
}

const std::string kRun =
    "train --model megatron:24x1024x16 --cluster a100-sxm4-40gb:2x4 --pp 4 --micro-batch 2 "
    "--global-batch 64 --seq 2048 --steps 2000 --cost-model analytical --checkpoint 300 "
    "--storage-bandwidth 5 --events $T/events.yaml ";

TEST_F(PageLooksTest, ARun) {
  Write("events.yaml",
        "events:\n"
        "  - {at_s: 100, device: node1/gpu2, what: SLOW, rate: 0.6}\n"
        "  - {at_s: 200, device: node1/gpu2, what: RECOVER}\n"
        "  - {at_step: 1000, node: node1, what: FAIL}\n"
        "  - {at_s: 900, node: node1, what: RECOVER}\n");
  const json report = Answer(kRun);
  size_t lost = 0;
  for (const json& loss : report["history"]["losses"]) lost += loss["time_ns"] != 0 ? 1 : 0;
  ASSERT_GE(lost, 3u);
  const std::string time = "minutes since the start";
  const json failures = {{"failure (1)", 1}};
  ExpectCharts({{"Step time", time, "ms per step", 0, kAny, failures},
                {"Idle share of the pipeline", time, "% of the time", 0, kAny, failures},
                {"Devices at work", time, "devices", 0, kAny, failures},
                {"Layers of the stages", time, "stage", 4},
                {"Lost time by cause", "lost time (minutes)", "", lost, lost}});
}

TEST_F(PageLooksTest, ManyRuns) {
  Write("events.yaml", "rates: {node_mtbf_s: 4000, repair_s: 60}\n");
  const json runs = Answer(kRun + "--runs 20")["runs"];
  size_t lost = 0;
  for (const json& hours : runs["lost_gpu_hours"]) {
    lost += hours["mean"] != 0 || hours["p95"] != 0 ? 1 : 0;
  }
  ASSERT_GE(lost, 3u) << runs;
  ExpectCharts(
      {{"Time to finish", "time to finish (minutes)", "", 4, 4},
       {"Lost GPU-hours by cause", "lost time (GPU-hours)", "", lost, 2 * lost, {{"mean", lost}}}});
}

TEST_F(PageLooksTest, AlgorithmsThatCutAGraph) {
  const json answer = Answer(
      "partition --model gpt2 --seq 512 --compare-algorithms --device-speeds 2x1,2x2 --bandwidth "
      "1e10 --budget 64evals");
  size_t points = 2;  // the optimum
  for (const json& curve : answer["curves"]) points += curve.empty() ? 0 : curve.size() + 1;
  ExpectCharts({{"Best so far, over evaluations", "evaluations", "slowest stage (ms)", 0, points},
                {"Best so far, over time", "time (s)", "slowest stage (ms)", 0, points}});
}

}  // namespace
}  // namespace stagecraft::bad_input
