// partition: cuts an operator graph into stages.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/samples/gzip.h"
#include "costmodel/proto_file.h"
#include "tools/command.h"
#include "tools/flags.h"
#include "tools/partition/partition_request.h"
#include "tools/report_header.h"
#include "tools/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;
constexpr const char* kExample =
    "pipedream reads graph.txt profiles, dnn reads dnn-partitioning's JSON, piper reads Piper's\n"
    "JSON; without --format the contents decide. Levels of --machines and --bandwidth are listed\n"
    "innermost first: 4,4 is 4 per server, 4 servers.\n"
    "example: stagecraft partition --graph graph.txt --algorithm pipedream --machines 4,4 "
    "--bandwidth 10e9,1.25e9 --count-activations";

struct Method {
  const char* name;
  GraphFormat format;
  PartitionAnswer (*run)(const PartitionRequest& request);
};
constexpr Method kMethods[] = {
    {"pipedream", GraphFormat::kPipeDream, PartitionByPipeDream},
    {"pipedream-paper", GraphFormat::kPipeDream, PartitionByPipeDream},
    {"dapple", GraphFormat::kPipeDream, PartitionByDapple},
    {"2bw", GraphFormat::kPipeDream, PartitionByTwoBuffer},
    {"hetpipe", GraphFormat::kPipeDream, PartitionByHetPipe},
    {"piper", GraphFormat::kPiper, PartitionByPiper},
    {"dnn-throughput", GraphFormat::kDnn, PartitionByPlacement},
    {"dnn-latency", GraphFormat::kDnn, PartitionByPlacement},
};
constexpr const char* kFormatNames[] = {"pipedream", "dnn", "piper"};  // by GraphFormat

const char* NameOf(GraphFormat format) { return kFormatNames[static_cast<int>(format)]; }

// The flags of the verb.
struct PartitionFlags {
  CLI::App app{"Cuts an operator graph into stages.", "stagecraft partition"};
  PartitionRequest request;
  std::string format, machines, bandwidth, server_speed, server_memory;
  int devices = 0, micro_batches = 0;
  double memory = 0;
  bool no_data_parallel = false, no_tensor_parallel = false, no_recompute = false;
  bool json = false, quiet = false;

  PartitionFlags() {
    Args methods;
    for (const Method& method : kMethods) methods.push_back(method.name);
    app.footer(kExample);
    app.add_option("--graph", request.graph_path, "the graph, perhaps gzipped")->required();
    app.add_option("--format", format, "of the graph")->check(OneOf({"pipedream", "dnn", "piper"}));
    app.add_option("--algorithm", request.algorithm, "whose problem and method")
        ->required()
        ->check(OneOf(methods));
    app.add_option("--machines", machines, "by level, innermost first (graph.txt)");
    app.add_option("--bandwidth", bandwidth, "bytes/s by level, innermost first");
    app.add_option("--devices", devices, "how many (piper, 2bw, dnn: accelerators)")
        ->check(CLI::Range(1, 1 << 20));
    app.add_option("--micro-batches", micro_batches,
                   "of a step (piper, dapple); minibatches of a batch (2bw)")
        ->check(CLI::Range(1, 1 << 20));
    app.add_option("--memory", memory, "bytes of a device; turns the method's memory rule on")
        ->check(CLI::Range(0.0, 1e15));
    app.add_option("--server-speed", server_speed,
                   "by server, against the profiled board (hetpipe)");
    app.add_option("--server-memory", server_memory, "bytes of a GPU, by server (hetpipe)");
    app.add_option("--policy", request.policy, "whose GPUs make a virtual worker (hetpipe)")
        ->check(OneOf({"np", "ed", "hd"}));
    app.add_option("--seed", request.seed, "of random draws");
    app.add_flag("--count-activations", request.count_activations,
                 "transfers between stages take time (pipedream)");
    app.add_flag("--straight", request.straight, "no replication (pipedream)");
    app.add_flag("--use-fewer-machines", request.use_fewer_machines,
                 "leave machines idle where that is as good (pipedream)");
    app.add_flag("--no-data-parallel", no_data_parallel, "one replica of every stage");
    app.add_flag("--no-tensor-parallel", no_tensor_parallel, "tensor degree 1 (piper)");
    app.add_flag("--no-recompute", no_recompute, "no recomputation (piper)");
    app.add_flag("--non-contiguous", request.non_contiguous,
                 "any placement, by annealing (dnn-throughput)");
    app.add_flag("--json", json, "one JSON object on stdout");
    app.add_flag("--quiet", quiet, "nothing on stderr");
  }
  PartitionFlags(const PartitionFlags&) = delete;
};

template <typename Number>
std::vector<Number> ParseNumbers(const std::string& flag, const std::string& text, Number least,
                                 Number most) {
  std::vector<Number> numbers;
  for (size_t begin = 0; begin <= text.size() && !text.empty();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    Number number{};
    const auto [stopped, error] = std::from_chars(text.data() + begin, text.data() + end, number);
    if (error != std::errc() || stopped != text.data() + end || !(number >= least) ||
        number > most) {
      throw InputError(fmt::format("{}: got '{}', want numbers of {:g} to {:g} with commas between",
                                   flag, text, static_cast<double>(least),
                                   static_cast<double>(most)));
    }
    numbers.push_back(number);
    begin = end + 1;
  }
  return numbers;
}

GraphFormat FormatOf(const std::string& name, const std::string& text) {
  for (const GraphFormat format :
       {GraphFormat::kPipeDream, GraphFormat::kDnn, GraphFormat::kPiper}) {
    if (name == NameOf(format)) return format;
  }
  if (text.find("\"TMPCs\"") != std::string::npos) return GraphFormat::kPiper;
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && text[first] == '{';
  return is_json ? GraphFormat::kDnn : GraphFormat::kPipeDream;
}

void Complete(PartitionFlags& flags) {
  constexpr int kMostMachines = 64;
  constexpr size_t kMostLevels = 8;
  PartitionRequest& request = flags.request;
  const std::string bytes = ReadFile(request.graph_path);
  request.text = IsGzip(bytes) ? Gunzip(bytes, request.graph_path) : bytes;
  request.format = FormatOf(flags.format, request.text);
  request.machines = ParseNumbers("--machines", flags.machines, 1, kMostMachines);
  request.bandwidth_bytes_per_s = ParseNumbers("--bandwidth", flags.bandwidth, 1.0, 1e18);
  if (!request.machines.empty() &&
      (request.machines.size() != request.bandwidth_bytes_per_s.size() ||
       request.machines.size() > kMostLevels)) {
    throw InputError(
        fmt::format("--bandwidth: got {} levels, want one for each of the {} of "
                    "--machines, at most {}",
                    request.bandwidth_bytes_per_s.size(), request.machines.size(), kMostLevels));
  }
  request.server_speed = ParseNumbers("--server-speed", flags.server_speed, 1e-6, 1e6);
  request.server_memory_bytes = ParseNumbers("--server-memory", flags.server_memory, 0.0, 1e15);
  if (flags.devices > 0) request.devices = flags.devices;
  if (flags.micro_batches > 0) request.micro_batches = flags.micro_batches;
  if (flags.app.count("--memory") > 0) request.memory_bytes = flags.memory;
  request.data_parallel = !flags.no_data_parallel;
  request.tensor_parallel = !flags.no_tensor_parallel;
  request.recompute = !flags.no_recompute;
}

PartitionAnswer Run(const PartitionRequest& request) {
  for (const Method& method : kMethods) {
    if (request.algorithm != method.name) continue;
    if (request.format != method.format) {
      throw InputError(fmt::format("--algorithm: {} wants a graph of format {}, {} is {}",
                                   method.name, NameOf(method.format), request.graph_path,
                                   NameOf(request.format)));
    }
    return method.run(request);
  }
  CHECK(false);
  return {};
}

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

void PrintJson(const PartitionRequest& request, const PartitionAnswer& answer, double wall_ms,
               std::ostream& out) {
  Json report = ReportHeader("partition", kSchema, {request.graph_path});
  report["seed"] = request.seed;
  report["format"] = NameOf(request.format);
  report["algorithm"] = request.algorithm;
  report["feasible"] = answer.obstacle.empty();
  if (!answer.obstacle.empty()) report["binding_constraint"] = answer.obstacle;
  report["bottleneck_s"] = OrNull(answer.bottleneck_s);
  report["latency_s"] = OrNull(answer.latency_s);
  report["dp_time_s"] = OrNull(answer.dp_time_s);
  report["minibatches_per_s"] = OrNull(answer.minibatches_per_s);
  report["states"] = answer.states ? Json(*answer.states) : Json(nullptr);
  report["stages"] = Json::array();
  for (const PartitionedStage& stage : answer.stages) {
    Json row = {{"nodes", stage.nodes},
                {"replicas", stage.replicas},
                {"tensor", stage.tensor},
                {"time_s", stage.time_s},
                {"memory_bytes", stage.memory_bytes}};
    if (!stage.place.empty()) row["place"] = stage.place;
    report["stages"].push_back(std::move(row));
  }
  report["notes"] = answer.notes;
  report["wall_ms"] = wall_ms;
  out << report.dump(2) << '\n';
}

void PrintLine(const char* label, const std::optional<double>& seconds, std::ostream& out) {
  if (seconds) out << fmt::format("{:<15}{:.6g} ms\n", label, *seconds * 1e3);
}

void PrintText(const PartitionAnswer& answer, std::ostream& out) {
  PrintLine("bottleneck", answer.bottleneck_s, out);
  PrintLine("latency", answer.latency_s, out);
  PrintLine("data parallel", answer.dp_time_s, out);
  if (answer.states) out << fmt::format("{:<15}{}\n", "states", *answer.states);
  if (answer.minibatches_per_s) {
    out << fmt::format("{:<15}{:.6g} minibatches/s\n", "rate", *answer.minibatches_per_s);
  }
  for (const std::string& note : answer.notes) out << "note: " << note << '\n';
  out << '\n';
  TextTable table(
      {"stage", "place", "first", "last", "nodes", "replicas", "tensor", "time ms", "memory GB"},
      4);
  int number = 0;
  for (const PartitionedStage& stage : answer.stages) {
    table.Add({std::to_string(number++), stage.place.empty() ? "any" : stage.place,
               stage.nodes.front(), stage.nodes.back(), std::to_string(stage.nodes.size()),
               std::to_string(stage.replicas), std::to_string(stage.tensor),
               fmt::format("{:.3f}", stage.time_s * 1e3),
               fmt::format("{:.3f}", stage.memory_bytes / 1e9)});
  }
  table.Print(out);
}

}  // namespace

int RunPartition(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  PartitionFlags flags;
  if (ParseFlags(flags.app, args, out)) return kExitOk;
  Complete(flags);
  const auto start = std::chrono::steady_clock::now();
  const PartitionAnswer answer = Run(flags.request);
  const double wall_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (flags.json) PrintJson(flags.request, answer, wall_ms, out);
  if (!answer.obstacle.empty()) {
    err << "stagecraft partition: no feasible partition: " << answer.obstacle << '\n';
    return kExitInfeasible;
  }
  if (!flags.json) PrintText(answer, out);
  if (!flags.quiet) err << fmt::format("partitioned in {:.1f} ms\n", wall_ms);
  return kExitOk;
}

}  // namespace stagecraft
