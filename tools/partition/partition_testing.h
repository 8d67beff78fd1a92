// Helpers that run `partition` in the test's process on small graphs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "tools/verb/command.h"

namespace stagecraft {

// PartitionTest: a test with a folder of its own, which is removed after the test.
class PartitionTest : public testing::Test {
 protected:
  PartitionTest()
      : folder_(testing::TempDir() + "partition_search_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_);
  }
  ~PartitionTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(Path(name), text);
    return Path(name);
  }

 private:
  const std::string folder_;
};

// What a user sees of a command.
struct PartitionOutcome {
  int code;
  std::string out, err;
};

inline PartitionOutcome Partition(Args words, const Args& more = {}) {
  words.insert(words.end(), more.begin(), more.end());
  words.push_back("--quiet");
  std::istringstream in;
  std::ostringstream out, err;
  const int code = RunPartition(words, in, out, err);
  return {code, out.str(), err.str()};
}

inline nlohmann::json Report(Args words, const Args& more = {}) {
  words.push_back("--json");
  const PartitionOutcome outcome = Partition(words, more);
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

inline std::string Sentence(const Args& words) {
  try {
    Partition(words);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

inline std::string Node(const std::string& id, int forward_ms) {
  return id + " -- Op -- forward_compute_time=" + std::to_string(forward_ms) +
         ", backward_compute_time=1, activation_size=1000000, parameter_size=2000000\n";
}

// A profile of PipeDream in which n0 feeds n1 and n2, both feed n3, and so on.
inline std::string Diamonds(int count) {
  std::string nodes = Node("n0", 3), edges;
  for (int d = 0; d < count; ++d) {
    const auto name = [&](int i) { return "n" + std::to_string(3 * d + i); };
    for (int i = 1; i <= 3; ++i) nodes += Node(name(i), 1 + (d + 2 * i) % 4);
    edges += "\t" + name(0) + " -- " + name(1) + "\n\t" + name(0) + " -- " + name(2) + "\n\t" +
             name(1) + " -- " + name(3) + "\n\t" + name(2) + " -- " + name(3) + "\n";
  }
  return nodes + edges;
}

// A profile of PipeDream in which n0 feeds n1, which feeds n2, and so on.
inline std::string Chain(int nodes) {
  std::string text = Node("n0", 1), edges;
  for (int node = 1; node < nodes; ++node) {
    text += Node("n" + std::to_string(node), 1);
    edges += "\tn" + std::to_string(node - 1) + " -- n" + std::to_string(node) + "\n";
  }
  return text + edges;
}

// The JSON of dnn-partitioning with two operators: the first feeds the second, transfers cost
// nothing, and an accelerator has the memory for one of them.
inline std::string TwoOperators() {
  return R"({"maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 10,
      "nodes": [{"id": 1, "cpuLatency": 9, "fpgaLatency": 1, "size": 9},
                {"id": 2, "cpuLatency": 9, "fpgaLatency": 2, "size": 9}],
      "edges": [{"sourceId": 1, "destId": 2, "cost": 0}]})";
}

inline Args Devices(const std::string& graph) {
  return {"--graph", graph, "--device-speeds", "2x1,2x2", "--bandwidth", "1e10"};
}

// Returns what in a Report() does not depend on the speed of this machine.
inline nlohmann::json WithoutTimes(nlohmann::json report) {
  for (const char* key : {"wall_ms", "evaluations_per_s"}) report.erase(key);
  for (nlohmann::json& row : report["algorithms"]) row.erase("seconds");
  for (nlohmann::json& curve : report["curves"]) {
    for (nlohmann::json& point : curve) point.erase("seconds");
  }
  return report;
}

}  // namespace stagecraft
