#include "tools/partition/read_graph.h"

#include <fmt/core.h>

#include <algorithm>

#include "costmodel/check.h"
#include "search/partition/foreign_graphs.h"
#include "search/partition/piper_problem.h"
#include "search/partition/placement_problem.h"
#include "sim/workload/readers/graph_txt.h"

namespace stagecraft {
namespace {

// Above it the times of transfers become more bytes than can be added up.
constexpr double kMostDnnBandwidth = 2e12;

void AddNote(const std::string& note, std::vector<std::string>& notes) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

}  // namespace

const char* NameOf(GraphFormat format) {
  switch (format) {
    case GraphFormat::kPipeDream:
      return "pipedream";
    case GraphFormat::kDnn:
      return "dnn";
    case GraphFormat::kPiper:
      return "piper";
    case GraphFormat::kWorkload:
      return "workload";
  }
  return "";
}

TimedGraph ReadTimedGraph(const PartitionGraph& graph) {
  CHECK(graph.format == GraphFormat::kPipeDream || graph.format == GraphFormat::kWorkload);
  if (graph.timed) return *graph.timed;
  return ToTimedGraph(ParseProfiledGraph(graph.text, graph.path), graph.path);
}

TimedGraph ReadTimedGraph(const PartitionGraph& graph, Bandwidth bandwidth,
                          std::vector<std::string>& notes) {
  if (graph.format == GraphFormat::kDnn) {
    if (bandwidth.bytes_per_s() > kMostDnnBandwidth) {
      throw InputError(
          fmt::format("--bandwidth: got {:g}, want at most {:g} bytes/s for a dnn graph",
                      bandwidth.bytes_per_s(), kMostDnnBandwidth));
    }
    AddNote(
        "dnn: transfers take the times of the file, whatever --bandwidth says; memory counts as "
        "parameters, which replicas synchronise",
        notes);
    return ToTimedGraph(ParsePlacementProblem(graph.text, graph.path), bandwidth);
  }
  if (graph.format == GraphFormat::kPiper) {
    AddNote("piper: tensor degree 1 and no recomputation; memory counts parameters and outputs",
            notes);
    return ToTimedGraph(ParsePiperProblem(graph.text, graph.path));
  }
  return ReadTimedGraph(graph);
}

}  // namespace stagecraft
