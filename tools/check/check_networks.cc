#include "tools/check/check_networks.h"

#include <fmt/core.h>

#include <string_view>

#include "costmodel/check.h"
#include "proto/onnx_subset.pb.h"
#include "search/partition/piper_problem.h"
#include "search/partition/placement_problem.h"
#include "search/partition/stages/stage_policy.h"
#include "sim/workload/readers/graph_txt.h"
#include "sim/workload/readers/onnx_graph.h"

namespace stagecraft {
namespace {

constexpr std::string_view kPolicyBegins = "stage-policy-";
constexpr std::string_view kHtmlBegins = "<!DOCTYPE html>";
constexpr std::string_view kTitleBegins = "<title>stagecraft ";

// Returns the text from its first character that is no white space to the end of that line.
std::string_view FirstLine(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  text.remove_prefix(first);
  return text.substr(0, text.find('\n'));
}

bool IsGraphText(std::string_view text) {
  const std::string_view line = FirstLine(text);
  return line.find(" -- ") != std::string_view::npos;
}

FileSummary CheckOnnx(const std::string& bytes, const std::string& path) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes) || !model.has_graph()) {
    throw InputError(path + ": is not an ONNX model, want a ModelProto with a graph");
  }
  const Workload workload = OnnxWorkload(model, path);
  return {"ONNX model",
          fmt::format("{} layers, {} parameters", workload.layer_count(), workload.Parameters())};
}

FileSummary CheckPolicy(const std::string& text, const std::string& path) {
  const StagePolicyShape shape = StagePolicy::Read(text, path).shape();
  return {"policy",
          fmt::format("layers of width {}{}", shape.width, shape.is_directed ? ", directed" : "")};
}

FileSummary CheckGraphText(const std::string& text, const std::string& path) {
  const ProfiledGraph graph = ParseProfiledGraph(text, path);
  return {"PipeDream profile",
          fmt::format("{} operators, {} edges", graph.nodes.size(), graph.edges.size())};
}

FileSummary CheckHtml(const std::string& text, const std::string& path) {
  const size_t title = text.find(kTitleBegins);
  const size_t end = text.find("</title>");
  if (title == std::string::npos || end == std::string::npos || end < title) {
    throw InputError(path +
                     ": got an HTML page that stagecraft did not write, want one of its reports");
  }
  const size_t verb = title + kTitleBegins.size();
  return {"HTML report", fmt::format("of stagecraft {}, for a browser; no command reads it",
                                     text.substr(verb, end - verb))};
}

}  // namespace

std::optional<FileSummary> CheckNetworkFile(const std::string& bytes, const std::string& path,
                                            const std::string& extension) {
  if (extension == ".onnx") return CheckOnnx(bytes, path);
  const std::string_view line = FirstLine(bytes);
  if (line.starts_with(kPolicyBegins)) return CheckPolicy(bytes, path);
  if (line.starts_with(kHtmlBegins)) return CheckHtml(bytes, path);
  if (IsGraphText(bytes)) return CheckGraphText(bytes, path);
  return std::nullopt;
}

bool IsGraphJson(const std::string& text) {
  for (const char* key : {"\"TMPCs\"", "\"maxFPGAs\"", "\"maxCPUs\""}) {
    if (text.find(key) != std::string::npos) return true;
  }
  return false;
}

FileSummary CheckGraphJson(const std::string& text, const std::string& path) {
  if (text.find("\"TMPCs\"") != std::string::npos) {
    const PiperProblem problem = ParsePiperProblem(text, path);
    return {"Piper graph", fmt::format("{} operators, {} edges, {} devices", problem.nodes.size(),
                                       problem.edge_bytes.size(), problem.devices)};
  }
  const PlacementProblem problem = ParsePlacementProblem(text, path);
  return {"dnn-partitioning graph",
          fmt::format("{} operators on {} accelerators and {} CPUs", problem.nodes.size(),
                      problem.accelerators, problem.cpus)};
}

std::optional<FileSummary> CheckUnzippedGraph(const std::string& text, const std::string& path) {
  if (FirstLine(text).starts_with("{") && IsGraphJson(text)) return CheckGraphJson(text, path);
  if (IsGraphText(text)) return CheckGraphText(text, path);
  return std::nullopt;
}

}  // namespace stagecraft
