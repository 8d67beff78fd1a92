#include "search/partition/piper_problem.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "costmodel/text.h"
#include "search/partition/graph_json.h"

namespace stagecraft {
namespace {

constexpr int kMostTensorDegree = 1 << 16;

using NodeNumbers = std::map<int, int>;  // by the file's ids

class PiperReader {
 public:
  PiperReader(const nlohmann::json& value, const std::string& name)
      : file_{value, name + ": "}, name_(name) {}

  PiperProblem Read() {
    if (!file_.value.is_object()) throw InputError(name_ + ": want one JSON object");
    problem_.name = name_;
    problem_.devices = file_.Whole("maxDevices");
    problem_.memory_bytes = file_.Amount("maxMemoryPerDevice");
    problem_.bandwidth_bytes_per_s = file_.Amount("bandwidth");
    problem_.micro_batches = file_.Whole("mbsInBatch");
    NumberNodes();
    for (size_t n = 0; n < problem_.nodes.size(); ++n) ReadModes(n);
    ReadEdges();
    return std::move(problem_);
  }

 private:
  void NumberNodes() {
    for (size_t n = 0; n < file_.List("nodes").size(); ++n) {
      const JsonObject node = file_.Item("nodes", n);
      if (!numbers_.emplace(node.Whole("id"), static_cast<int>(n)).second) {
        node.Fail("id", "an id that no other node has");
      }
      problem_.nodes.push_back({node.Text("name"), {}});
    }
  }

  // Returns a key of a map as a number; it must be a decimal one.
  static int KeyOf(const JsonObject& map, const std::string& key) {
    const std::optional<int> number = ParseNumber<int>(key);
    if (!number) throw InputError(map.path + key + ": want whole numbers as keys");
    return *number;
  }

  void ReadModes(size_t n) {
    const JsonObject degrees = file_.Item("nodes", n).Object("TMPCs");
    for (const auto& [key, list] : degrees.value.items()) {
      const int degree = KeyOf(degrees, key);
      if (degree < 1 || degree > kMostTensorDegree || !list.is_array() || list.empty()) {
        degrees.Fail(key, "a list of modes by a tensor degree of at least 1");
      }
      std::vector<PiperMode>& modes = problem_.nodes[n].modes[degree];
      for (size_t m = 0; m < list.size(); ++m) modes.push_back(ReadMode(degrees.Item(key, m)));
    }
    if (degrees.value.empty()) file_.Item("nodes", n).Fail("TMPCs", "at least one tensor degree");
  }

  PiperMode ReadMode(const JsonObject& mode) const {
    PiperMode read;
    read.name = mode.Text("id");
    read.time_s = mode.Amount("timePerSample");
    read.parameters_bytes = mode.Amount("parameterSize");
    read.bytes_per_micro_batch = mode.Amount("memoryUsageA");
    read.fixed_bytes = mode.Amount("memoryUsageB");
    read.input_sync_bytes = ReadSync(mode.Object("syncTimeFw"));
    read.output_sync_bytes = ReadSync(mode.Object("syncTimeBw"));
    return read;
  }

  std::map<int, double> ReadSync(const JsonObject& sync) const {
    std::map<int, double> read;
    for (const auto& [key, bytes] : sync.value.items()) {
      const auto found = numbers_.find(KeyOf(sync, key));
      if (found == numbers_.end()) sync.Fail(key, "the id of a node as key");
      read.emplace(found->second, sync.Amount(key));
    }
    return read;
  }

  void ReadEdges() {
    std::vector<DagEdge> edges;
    for (size_t e = 0; e < file_.List("edges").size(); ++e) {
      const JsonObject edge = file_.Item("edges", e);
      int ends[2];
      for (const int side : {0, 1}) {
        const char* key = side == 0 ? "sourceId" : "destId";
        const auto found = numbers_.find(edge.Whole(key));
        if (found == numbers_.end()) edge.Fail(key, "the id of a node");
        ends[side] = found->second;
      }
      edges.push_back({ends[0], ends[1]});
      problem_.edge_bytes[edges.back()] += edge.Amount("communicationCost");
    }
    std::vector<std::string> names(problem_.nodes.size());
    for (const auto& [id, number] : numbers_) names[number] = std::to_string(id);
    problem_.dag = MakeDag(names, edges, name_);
    RequireOneComponent(names, edges, name_);
  }

  const JsonObject file_;
  const std::string name_;
  NodeNumbers numbers_;
  PiperProblem problem_;
};

}  // namespace

PiperProblem ParsePiperProblem(const std::string& text, const std::string& name) {
  const nlohmann::json value = ParseJson(text, name);
  return PiperReader(value, name).Read();
}

}  // namespace stagecraft
