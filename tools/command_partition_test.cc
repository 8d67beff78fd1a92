#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

// A graph file that is removed after the test.
class GraphFile {
 public:
  explicit GraphFile(const std::string& contents)
      : path_(testing::TempDir() + "partition_graph_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    WriteFileAtomically(path_, contents);
  }
  ~GraphFile() { std::filesystem::remove(path_); }
  GraphFile(const GraphFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Outcome {
  int code;
  std::string out, err;
};

Outcome Partition(const GraphFile& graph, Args words) {
  words.insert(words.begin(), {"--graph", graph.path(), "--quiet"});
  std::istringstream in;
  std::ostringstream out, err;
  const int code = RunPartition(words, in, out, err);
  return {code, out.str(), err.str()};
}

std::string Sentence(const std::string& contents, const Args& words) {
  const GraphFile graph(contents);
  try {
    Partition(graph, words);
  } catch (const InputError& error) {
    const std::string sentence = error.what();
    const size_t at = sentence.find(graph.path());
    return at == std::string::npos
               ? sentence
               : sentence.substr(0, at) + "FILE" + sentence.substr(at + graph.path().size());
  }
  return "no error";
}

std::string Node(const std::string& id) {
  return id +
         " -- Op -- forward_compute_time=1, backward_compute_time=1, activation_size=1000, "
         "parameter_size=2000\n";
}
const Args kTwoMachines = {"--algorithm", "pipedream", "--machines", "2", "--bandwidth", "1e9"};

TEST(CommandPartitionTest, AStraightChainIsCutInTheMiddle) {
  const GraphFile graph(Node("a") + Node("b") + "\ta -- b\n");
  Args words = kTwoMachines;
  words.insert(words.end(), {"--straight", "--json"});
  const Outcome outcome = Partition(graph, words);
  EXPECT_EQ(outcome.code, kExitOk);
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["command"], "partition");
  EXPECT_EQ(report["feasible"], true);
  EXPECT_DOUBLE_EQ(report["bottleneck_s"], 2e-3);
  EXPECT_EQ(report["states"], 2);
  ASSERT_EQ(report["stages"].size(), 2u);
  EXPECT_EQ(report["stages"][0]["nodes"], nlohmann::json({"a"}));
  EXPECT_EQ(report["stages"][1]["replicas"], 1);
  EXPECT_DOUBLE_EQ(report["stages"][1]["time_s"], 2e-3);
  EXPECT_EQ(report["stages"][1]["memory_bytes"], 3000);
}

TEST(CommandPartitionTest, NoPartitionEndsWithItsBindingConstraint) {
  const GraphFile graph(Node("a") + Node("b") + "\ta -- b\n");
  Args words = {"--algorithm", "pipedream", "--machines", "3", "--bandwidth", "1e9", "--straight"};
  Outcome outcome = Partition(graph, words);
  EXPECT_EQ(outcome.code, kExitInfeasible);
  EXPECT_NE(outcome.err.find("3 machines without replication"), std::string::npos);
  words[3] = "2";
  words.insert(words.end(), {"--memory", "100", "--json"});
  outcome = Partition(graph, words);
  EXPECT_EQ(outcome.code, kExitInfeasible);
  EXPECT_NE(outcome.err.find("memory: "), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["feasible"], false);
}

TEST(CommandPartitionTest, EveryPlannerOfProfilesAnswers) {
  const GraphFile graph(Node("a") + Node("b") + "\ta -- b\n");
  const Args cluster = {"--machines", "2,2", "--bandwidth", "1e10,1e9", "--json", "--algorithm"};
  for (const std::string algorithm : {"pipedream", "pipedream-paper", "dapple", "2bw", "hetpipe"}) {
    Args words = cluster;
    words.push_back(algorithm);
    const Outcome outcome = Partition(graph, words);
    ASSERT_EQ(outcome.code, kExitOk) << algorithm << outcome.err;
    const auto report = nlohmann::json::parse(outcome.out);
    EXPECT_GT(report["bottleneck_s"], 0) << algorithm;
    EXPECT_GE(report["stages"].size(), 1u) << algorithm;
  }
}

// The rate of minibatches was once infinite if no operator took any time.
TEST(CommandPartitionTest, GraphsOfNextToNoTimeHaveFiniteFiguresOrAreRefused) {
  const auto node = [](const std::string& id, const std::string& ms) {
    return id + " -- Op -- forward_compute_time=" + ms + ", backward_compute_time=" + ms +
           ", activation_size=0, parameter_size=0\n";
  };
  for (const std::string ms : {"0", "1e-300", "1e-9", "1e-6"}) {
    const GraphFile graph(node("a", ms) + node("b", ms) + "\ta -- b\n");
    for (const char* name : {"pipedream", "dapple", "2bw", "hetpipe", "exhaustive", "mcmc"}) {
      const Args words = {"--algorithm", name, "--machines", "4,4", "--bandwidth", "1e9,1e9"};
      try {
        const Outcome outcome = Partition(graph, words);
        for (const char* odd : {"inf", "nan"}) {
          EXPECT_EQ(outcome.out.find(odd), std::string::npos) << name << ms << outcome.out;
        }
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("take no time"), std::string::npos)
            << error.what();
      }
    }
  }
}

TEST(CommandPartitionTest, FasterServersOfHetPipeTakeMore) {
  const GraphFile graph(Node("a") + Node("b") + Node("c") + "\ta -- b\n\tb -- c\n");
  const Outcome outcome =
      Partition(graph, {"--algorithm", "hetpipe", "--machines", "1,2", "--bandwidth", "1e12,1e12",
                        "--policy", "ed", "--server-speed", "2,1", "--json"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const auto report = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(report["stages"].size(), 2u);
  for (const auto& stage : report["stages"]) {
    const bool is_fast = stage["place"].get<std::string>().find("server 0") != std::string::npos;
    EXPECT_EQ(stage["nodes"].size(), is_fast ? 2u : 1u);
  }
}

// One server is `speed` times as fast as the other. With one worker on each, the sum of their rates
// is best; but the fast worker waits for the slow one, and workers with a GPU of each server are
// better.
TEST(CommandPartitionTest, HetPipeIsJudgedByItsSlowestWorker) {
  std::string text;
  for (const std::string name : {"a", "b", "c", "d", "e"}) text += Node(name);
  const GraphFile graph(text + "\ta -- b\n\tb -- c\n\tc -- d\n\td -- e\n");
  for (const std::string speed : {"2", "3", "4", "6"}) {
    const auto report_of = [&](const Args& policy) {
      Args words = {"--algorithm", "hetpipe",        "--machines", "2,2",   "--bandwidth",
                    "1e12,1e12",   "--server-speed", speed + ",1", "--json"};
      words.insert(words.end(), policy.begin(), policy.end());
      const Outcome outcome = Partition(graph, words);
      EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
      return nlohmann::json::parse(outcome.out);
    };
    const auto best = report_of({});
    const auto by_server = report_of({"--policy", "np"});
    const auto mixed = report_of({"--policy", "ed"});
    EXPECT_EQ(best["minibatches_per_s"], mixed["minibatches_per_s"]);
    EXPECT_EQ(best["added_minibatches_per_s"], best["minibatches_per_s"]);
    EXPECT_GT(best["minibatches_per_s"], by_server["minibatches_per_s"]);
    EXPECT_LT(by_server["minibatches_per_s"], by_server["added_minibatches_per_s"]);
    EXPECT_LE(
        by_server["minibatches_per_s"].get<double>() * by_server["bottleneck_s"].get<double>(),
        2 * (1 + 1e-9));
  }
}

TEST(CommandPartitionTest, BadGraphsAndFlagsAreNamed) {
  EXPECT_EQ(Sentence("", kTwoMachines), "FILE: has no nodes, want at least one");
  EXPECT_EQ(Sentence(Node("a") + Node("b") + "\ta -- b\n\tb -- a\n", kTwoMachines),
            "FILE: node a (Op) is on a cycle, want a graph without");
  EXPECT_EQ(Sentence(Node("a") + Node("b"), kTwoMachines),
            "FILE: nodes a and b are in different components, want a graph of one component");
  EXPECT_EQ(Sentence(Node("a"), {"--algorithm", "piper"}),
            "--algorithm: piper wants a graph of format piper, FILE is pipedream");
  EXPECT_EQ(Sentence(Node("a"), {"--algorithm", "pipedream"}),
            "--machines: got nothing, want machines by level, such as 4,4");
  EXPECT_EQ(
      Sentence(Node("a"), {"--algorithm", "pipedream", "--machines", "4,x", "--bandwidth", "1e9"}),
      "--machines: got '4,x', want numbers of 1 to 64 with commas between");
}

TEST(CommandPartitionTest, TooManyDevicesAreRefused) {
  const std::string graph =
      R"({"maxFPGAs": 1000000, "maxCPUs": 1, "maxSizePerFPGA": 10, "nodes": [
          {"id": 1, "cpuLatency": 9, "fpgaLatency": 1, "size": 9}], "edges": []})";
  EXPECT_EQ(Sentence(graph, {"--algorithm", "dnn-throughput"}),
            "--devices: got 1000000 accelerators and 1 CPUs, want at most 64");
  EXPECT_NE(Sentence(Node("a"), {"--algorithm", "2bw", "--machines", "2", "--bandwidth", "1e9",
                                 "--memory", "1e300"}),
            "no error");
}

TEST(CommandPartitionTest, PlacementsNameTheirDevices) {
  const GraphFile graph(
      R"({"maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 10, "nodes": [
          {"id": 1, "cpuLatency": 9, "fpgaLatency": 1, "size": 9},
          {"id": 2, "cpuLatency": 9, "fpgaLatency": 1, "size": 9}],
          "edges": [{"sourceId": 1, "destId": 2, "cost": 1}]})");
  for (const std::string algorithm : {"dnn-throughput", "dnn-latency"}) {
    const Outcome outcome = Partition(graph, {"--algorithm", algorithm, "--json"});
    ASSERT_EQ(outcome.code, kExitOk);
    const auto report = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(report["stages"].size(), 2u);
    EXPECT_EQ(report["stages"][0]["place"], "accelerator 0");
    const bool is_latency = algorithm == "dnn-latency";
    EXPECT_DOUBLE_EQ(report[is_latency ? "latency_s" : "bottleneck_s"], is_latency ? 4e-3 : 2e-3);
  }
}

}  // namespace
}  // namespace stagecraft
