// Searches for stages on the command line.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "costmodel/proto_file.h"
#include "tools/partition/partition_testing.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

using nlohmann::json;
using PartitionSearchTest = PartitionTest;

const Args kSmall = {"--budget", "400evals", "--policy-width", "8"};

TEST_F(PartitionSearchTest, NoSearchBeatsTheExhaustiveOne) {
  const Args words = Devices(Write("graph.txt", Diamonds(3)));
  const json exact = Report(words, {"--algorithm", "exhaustive"});
  EXPECT_EQ(exact["optimal"], true);
  EXPECT_EQ(exact["evaluations"], 0);
  EXPECT_EQ(exact["devices"][1]["speed"], 2);
  for (const std::string algorithm : {"mcmc", "differentiable", "policy"}) {
    SCOPED_TRACE(algorithm);
    Args more = {"--algorithm", algorithm, "--budget", "400evals"};
    if (algorithm == "policy") more.insert(more.end(), {"--policy-width", "8"});
    const json report = Report(words, more);
    EXPECT_GE(report["bottleneck_s"], exact["bottleneck_s"]);
    EXPECT_LT(report["bottleneck_s"], 1.5 * exact["bottleneck_s"].get<double>());
    EXPECT_EQ(report["feasible"], true);
    EXPECT_EQ(report["evaluations"], 400);
    EXPECT_GT(report["evaluations_per_s"], 0);
    EXPECT_GT(report["wall_ms"], 0);
    double slowest = 0;
    std::set<std::string> nodes;
    for (const json& stage : report["stages"]) {
      slowest = std::max(slowest, stage["time_s"].get<double>());
      for (const json& node : stage["nodes"]) EXPECT_TRUE(nodes.insert(node).second) << node;
    }
    EXPECT_EQ(slowest, report["bottleneck_s"]);
    EXPECT_EQ(nodes.size(), 10u);
    const json& curve = report["curves"][algorithm];
    ASSERT_FALSE(curve.empty());
    EXPECT_NEAR(curve.back()["bottleneck_s"], report["bottleneck_s"], 1e-12);
  }
}

TEST_F(PartitionSearchTest, SameSeedGivesTheSameReport) {
  Args words = Devices(Write("graph.txt", Diamonds(3)));
  words.insert(words.end(), {"--compare-algorithms", "--seed", "5"});
  const json first = Report(words, kSmall);
  EXPECT_EQ(WithoutTimes(first), WithoutTimes(Report(words, kSmall)));
  words.back() = "6";
  EXPECT_NE(WithoutTimes(first)["curves"], WithoutTimes(Report(words, kSmall))["curves"]);
}

TEST_F(PartitionSearchTest, ComparisonHasATableCurvesAndAPage) {
  Args words = Devices(Write("graph.txt", Diamonds(2)));
  words.insert(words.end(), {"--compare-algorithms", "--report", Path("curves.html")});
  const json report = Report(words, kSmall);
  std::vector<std::string> names;
  for (const json& row : report["algorithms"]) {
    names.push_back(row["algorithm"]);
    EXPECT_GE(row["gap_percent"], 0);
    EXPECT_EQ(row["evaluations"], names.back() == "exhaustive" ? 0 : 400);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"random", "mcmc", "differentiable", "policy",
                                             "directed policy", "exhaustive"}));
  const std::string page = ReadFile(Path("curves.html"));
  EXPECT_NE(page.find("<figure class=\"chart"), std::string::npos);
  EXPECT_NE(page.find("\"directed policy\""), std::string::npos);
  const PartitionOutcome text = Partition(words, kSmall);
  EXPECT_NE(text.out.find("proven"), std::string::npos);
  EXPECT_NE(text.out.find("replicas"), std::string::npos);
}

// The graph has more than 1e6 downsets.
TEST_F(PartitionSearchTest, TooManyDownsetsSayWhatToDoInstead) {
  std::string nodes = Node("in", 1) + Node("out", 1), edges;
  for (int branch = 0; branch < 20; ++branch) {
    const std::string name = "b" + std::to_string(branch);
    nodes += Node(name, 1);
    edges += "\tin -- " + name + "\n\t" + name + " -- out\n";
  }
  Args words = Devices(Write("graph.txt", nodes + edges));
  Args exact = words;
  exact.insert(exact.end(), {"--algorithm", "exhaustive"});
  const std::string sentence = Sentence(exact);
  EXPECT_NE(sentence.find("has more than 2000 downsets"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("--algorithm mcmc, differentiable and policy"), std::string::npos);
  words.push_back("--compare-algorithms");
  const json report = Report(words, kSmall);
  EXPECT_NE(report["algorithms"].back()["remark"], "");
  EXPECT_TRUE(report["algorithms"][0]["gap_percent"].is_null());
}

TEST_F(PartitionSearchTest, TooManyPiecesForGradientsSaySo) {
  const std::string graph = Write("graph.txt", Chain(600));
  EXPECT_EQ(Sentence({"--graph", graph, "--devices", "200", "--bandwidth", "1e10", "--algorithm",
                      "differentiable"}),
            graph +
                ": got 600 operators on 200 devices, for gradients want operators x (operators "
                "+ 1) x devices up to 6e+07");
}

TEST_F(PartitionSearchTest, AProblemThatDoesNotFitEndsWithTheBindingConstraint) {
  const Args words = {"--graph",     Write("graph.txt", Diamonds(1)),
                      "--devices",   "2",
                      "--bandwidth", "1e10",
                      "--memory",    "5e6",
                      "--algorithm"};
  PartitionOutcome outcome = Partition(words, {"exhaustive"});
  EXPECT_EQ(outcome.code, kExitInfeasible);
  EXPECT_NE(outcome.err.find("memory: no plan fits; in the nearest of 2000 others stage "),
            std::string::npos)
      << outcome.err;
  outcome = Partition(words, {"mcmc", "--budget", "100evals"});
  EXPECT_EQ(outcome.code, kExitInfeasible);
  EXPECT_NE(outcome.err.find("GB per device, but only 0.005 GB are available"), std::string::npos);
}

TEST_F(PartitionSearchTest, GraphsOfOtherPlannersAreCutIfTheySayEnough) {
  const std::string dnn = Write("dnn.json", TwoOperators());
  const json placed =
      Report({"--graph", dnn, "--algorithm", "exhaustive", "--devices", "2", "--bandwidth", "1e9"});
  EXPECT_NEAR(placed["bottleneck_s"], 1.5e-3, 1e-6);  // one stage on both devices
  EXPECT_EQ(placed["format"], "dnn");
  EXPECT_EQ(placed["notes"].size(), 1u);
  EXPECT_TRUE(
      Sentence({"--graph", dnn, "--algorithm", "mcmc", "--devices", "2", "--bandwidth", "1e18"})
          .starts_with("--bandwidth: got 1e+18"));
}

TEST_F(PartitionSearchTest, WorkloadsAreCutByEveryPlannerOfProfiles) {
  const Args words = {"--model", "gpt2",         "--seq",      "512",         "--micro-batch",
                      "4",       "--cost-model", "analytical", "--bandwidth", "1e11"};
  for (const std::string algorithm : {"pipedream", "2bw", "mcmc", "exhaustive"}) {
    SCOPED_TRACE(algorithm);
    const json report = Report(words, {"--machines", "4", "--algorithm", algorithm});
    EXPECT_EQ(report["format"], "workload");
    EXPECT_GT(report["bottleneck_s"], 0);
    EXPECT_EQ(report["stages"][0]["nodes"][0], "0.token_embedding");
    EXPECT_EQ(report["notes"][0],
              "times of a100-sxm4-80gb, bf16, micro-batch 4 of 512 tokens, by the analytical cost "
              "model");
  }
  Args unlike = words;
  unlike.insert(unlike.end(), {"--gpu", "v100-sxm2-32gb", "--algorithm", "mcmc", "--devices", "2"});
  EXPECT_NE(Sentence(unlike).find(" has no bf16 arithmetic"), std::string::npos)
      << Sentence(unlike);
}

}  // namespace
}  // namespace stagecraft
