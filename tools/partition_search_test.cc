// Searches for stages from the command line.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "tools/command.h"

namespace stagecraft {
namespace {

using nlohmann::json;

// Files that are gone after the test.
class PartitionSearchTest : public testing::Test {
 protected:
  PartitionSearchTest()
      : folder_(testing::TempDir() + "partition_search_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_);
  }
  ~PartitionSearchTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(Path(name), text);
    return Path(name);
  }

 private:
  const std::string folder_;
};

struct Outcome {
  int code;
  std::string out, err;
};

Outcome Partition(Args words, const Args& more = {}) {
  words.insert(words.end(), more.begin(), more.end());
  words.push_back("--quiet");
  std::istringstream in;
  std::ostringstream out, err;
  const int code = RunPartition(words, in, out, err);
  return {code, out.str(), err.str()};
}

json Report(Args words, const Args& more = {}) {
  words.push_back("--json");
  const Outcome outcome = Partition(words, more);
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  return json::parse(outcome.out);
}

std::string Sentence(const Args& words) {
  try {
    Partition(words);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string Node(const std::string& id, int forward_ms) {
  return id + " -- Op -- forward_compute_time=" + std::to_string(forward_ms) +
         ", backward_compute_time=1, activation_size=1000000, parameter_size=2000000\n";
}

// n0 feeds n1 and n2, both feed n3, and so on.
std::string Diamonds(int count) {
  std::string nodes = Node("n0", 3), edges;
  for (int d = 0; d < count; ++d) {
    const auto name = [&](int i) { return "n" + std::to_string(3 * d + i); };
    for (int i = 1; i <= 3; ++i) nodes += Node(name(i), 1 + (d + 2 * i) % 4);
    edges += "\t" + name(0) + " -- " + name(1) + "\n\t" + name(0) + " -- " + name(2) + "\n\t" +
             name(1) + " -- " + name(3) + "\n\t" + name(2) + " -- " + name(3) + "\n";
  }
  return nodes + edges;
}

Args Devices(const std::string& graph) {
  return {"--graph", graph, "--device-speeds", "2x1,2x2", "--bandwidth", "1e10"};
}

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

json WithoutTimes(json report) {
  for (const char* key : {"wall_ms", "evaluations_per_s"}) report.erase(key);
  for (json& row : report["algorithms"]) row.erase("seconds");
  for (json& curve : report["curves"]) {
    for (json& point : curve) point.erase("seconds");
  }
  return report;
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
  EXPECT_NE(page.find("<polyline"), std::string::npos);
  EXPECT_NE(page.find(">directed policy</text>"), std::string::npos);
  const Outcome text = Partition(words, kSmall);
  EXPECT_NE(text.out.find("proven"), std::string::npos);
  EXPECT_NE(text.out.find("replicas"), std::string::npos);
}

// 1e6 downsets and more.
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

TEST_F(PartitionSearchTest, WhatDoesNotFitEndsWithTheBindingConstraint) {
  const Args words = {"--graph",     Write("graph.txt", Diamonds(1)),
                      "--devices",   "2",
                      "--bandwidth", "1e10",
                      "--memory",    "5e6",
                      "--algorithm"};
  Outcome outcome = Partition(words, {"exhaustive"});
  EXPECT_EQ(outcome.code, kExitInfeasible);
  EXPECT_NE(outcome.err.find("memory: no plan fits; in the nearest of 2000 others stage "),
            std::string::npos)
      << outcome.err;
  outcome = Partition(words, {"mcmc", "--budget", "100evals"});
  EXPECT_EQ(outcome.code, kExitInfeasible);
  EXPECT_NE(outcome.err.find("GB on a device, 0.005 GB are there"), std::string::npos);
}

TEST_F(PartitionSearchTest, ASavedPolicyDrawsWhatTheTrainedOneDrew) {
  const std::string graph = Write("graph.txt", Diamonds(3));
  const std::string seen = Write("seen.txt", Diamonds(2));
  Args words = Devices(graph);
  words.insert(words.end(), {"--compare-algorithms", "--budget", "200evals"});
  const Args learn = {
      "--train-graphs", seen, "--train-devices", "3x1/1x1,1x2",     "--train-rounds", "2",
      "--policy-width", "8",  "--save-policy",   Path("policy.txt")};
  const json trained = WithoutTimes(Report(words, learn));
  const json read = WithoutTimes(Report(words, {"--policy", Path("policy.txt")}));
  EXPECT_EQ(trained["curves"], read["curves"]);
  EXPECT_EQ(read["algorithms"][5]["algorithm"], "tuned policy");
  EXPECT_NE(read["curves"]["tuned policy"], read["curves"]["policy"]);
  EXPECT_EQ(trained["notes"][0], "a policy 8 wide, undirected, learned 2 rounds on 2 problems");
}

TEST_F(PartitionSearchTest, APolicyIsTrainedWithoutAGraphToCut) {
  const std::string seen = Write("seen.txt", Diamonds(2));
  Args words = {"--train-graphs", seen, "--device-speeds", "2x1,1x2", "--bandwidth", "1e10",
                "--train-rounds", "1",  "--policy-width",  "4"};
  EXPECT_EQ(Sentence(words), "--save-policy: got nothing, want a file for what is learned");
  words.insert(words.end(), {"--save-policy", Path("policy.txt")});
  const Outcome outcome = Partition(words);
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_NE(outcome.out.find("wrote " + Path("policy.txt")), std::string::npos);
  // Learning goes on where it ended.
  words.insert(words.end(), {"--policy", Path("policy.txt")});
  const std::string before = ReadFile(Path("policy.txt"));
  EXPECT_EQ(Partition(words).code, kExitOk);
  EXPECT_NE(ReadFile(Path("policy.txt")), before);
}

TEST_F(PartitionSearchTest, PoliciesOfAnotherShapeOrVersionAreRefused) {
  Args words = Devices(Write("graph.txt", Diamonds(1)));
  words.insert(words.end(), {"--algorithm", "policy", "--budget", "40evals"});
  Partition(words, {"--policy-width", "4", "--save-policy", Path("policy.txt")});
  const std::string text = ReadFile(Path("policy.txt"));
  const auto refusal = [&](const std::string& contents, const Args& more) {
    Args with_policy = words;
    with_policy.insert(with_policy.end(), {"--policy", Write("other.txt", contents)});
    with_policy.insert(with_policy.end(), more.begin(), more.end());
    const std::string sentence = Sentence(with_policy);
    EXPECT_TRUE(sentence.starts_with(Path("other.txt") + ": ")) << sentence;
    return sentence.substr(Path("other.txt").size() + 2);
  };
  EXPECT_EQ(refusal(text, {"--policy-width", "8"}), "is 4 wide, --policy-width asks for 8");
  EXPECT_EQ(refusal(text, {"--policy-directed"}),
            "is undirected, --policy-directed asks for a directed one");
  EXPECT_EQ(refusal("stage-policy-9" + text.substr(14), {}),
            "begins with \"stage-policy-9 width 4 undirected\", want \"stage-policy-1 width "
            "<1..1024> directed|undirected\"");
  refusal(text.substr(0, text.size() / 2), {});
  EXPECT_TRUE(refusal("\x1f\x8b zipped", {}).starts_with("begins with \"?? zipped\""));
}

TEST_F(PartitionSearchTest, OtherPlannersGraphsAreCutWhereTheySayEnough) {
  const std::string dnn = Write("dnn.json", R"({"maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 10,
      "nodes": [{"id": 1, "cpuLatency": 9, "fpgaLatency": 1, "size": 9},
                {"id": 2, "cpuLatency": 9, "fpgaLatency": 2, "size": 9}],
      "edges": [{"sourceId": 1, "destId": 2, "cost": 0}]})");
  const json placed =
      Report({"--graph", dnn, "--algorithm", "exhaustive", "--devices", "2", "--bandwidth", "1e9"});
  EXPECT_NEAR(placed["bottleneck_s"], 1.5e-3, 1e-6);  // both on both
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

TEST_F(PartitionSearchTest, FlagsThatContradictAreNamed) {
  const std::string graph = Write("graph.txt", Diamonds(1));
  const auto sentence = [&](Args words) {
    words.insert(words.begin(), {"--graph", graph});
    return Sentence(words);
  };
  EXPECT_EQ(Sentence({"--algorithm", "mcmc"}),
            "--graph: got nothing, want a graph to cut, or a workload by --model");
  EXPECT_TRUE(sentence({}).starts_with("--algorithm: got nothing, want one of pipedream, "));
  EXPECT_EQ(sentence({"--compare-algorithms", "--algorithm", "mcmc"}),
            "--compare-algorithms: got it with --algorithm, want one of them");
  EXPECT_EQ(sentence({"--model", "gpt2", "--algorithm", "mcmc"}),
            "--model: got it with --graph, want one of them");
  EXPECT_EQ(sentence({"--algorithm", "mcmc", "--devices", "2"}),
            "--bandwidth: got nothing, want bytes/s between any two devices");
  EXPECT_TRUE(sentence({"--algorithm", "mcmc", "--bandwidth", "1e9"})
                  .starts_with("--device-speeds: got nothing"));
  EXPECT_EQ(sentence({"--algorithm", "mcmc", "--bandwidth", "1e9", "--devices", "2",
                      "--device-speeds", "2x1"}),
            "--device-speeds: got it with --devices, want one of them");
  EXPECT_TRUE(sentence({"--algorithm", "mcmc", "--bandwidth", "1e9", "--device-speeds", "2x1",
                        "--device-memory", "1e9,2e9"})
                  .starts_with("--device-memory: got 2 numbers"));
  for (const char* devices : {"2", "x1", "2x", "0x1", "2x0", "2x1,", "2x-1", "2x1;2x1", "9999x1",
                              "1000x1,1000x2", "2x1/2x2", "2xnan"}) {
    EXPECT_TRUE(sentence({"--algorithm", "mcmc", "--bandwidth", "1e9", "--device-speeds", devices})
                    .starts_with("--device-speeds: got '"))
        << devices;
  }
  EXPECT_EQ(sentence({"--algorithm", "mcmc", "--seq", "512"}),
            "--seq: got it without --model, whose operators it is for");
  EXPECT_EQ(sentence({"--algorithm", "mcmc", "--policy", "p.txt"}),
            "--policy: mcmc takes none, want policy or --compare-algorithms");
  EXPECT_EQ(sentence({"--algorithm", "pipedream", "--budget", "10s"}),
            "--budget: pipedream takes none, want exhaustive, mcmc, differentiable, policy or "
            "--compare-algorithms");
  EXPECT_EQ(sentence({"--algorithm", "hetpipe", "--machines", "1,2", "--bandwidth", "1e9,1e9",
                      "--policy", "file.txt"}),
            "--policy: got \"file.txt\", want one of np, ed, hd for hetpipe");
  EXPECT_EQ(sentence({"--compare-algorithms", "--save-policy", "p.txt", "--devices", "2",
                      "--bandwidth", "1e9"}),
            "--save-policy: got it without --train-graphs, want something to learn on");
  EXPECT_TRUE(sentence({"--compare-algorithms", "--report", "p.txt", "--devices", "2",
                        "--bandwidth", "1e9"})
                  .starts_with("--report: got \"p.txt\", want a file that ends in .html"));
}

}  // namespace
}  // namespace stagecraft
