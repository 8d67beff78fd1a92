#include "tools/partition/partition_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/learned/samples/gzip.h"
#include "costmodel/proto_file.h"
#include "tools/verb/flags.h"
#include "tools/verb/number_list.h"

namespace stagecraft {
namespace {

constexpr PartitionMethod kMethods[] = {
    {"pipedream", GraphFormat::kPipeDream, PartitionByPipeDream},
    {"pipedream-paper", GraphFormat::kPipeDream, PartitionByPipeDream},
    {"dapple", GraphFormat::kPipeDream, PartitionByDapple},
    {"2bw", GraphFormat::kPipeDream, PartitionByTwoBuffer},
    {"hetpipe", GraphFormat::kPipeDream, PartitionByHetPipe},
    {"piper", GraphFormat::kPiper, PartitionByPiper},
    {"dnn-throughput", GraphFormat::kDnn, PartitionByPlacement},
    {"dnn-latency", GraphFormat::kDnn, PartitionByPlacement},
    {"exhaustive", GraphFormat::kWorkload, PartitionByStages},
    {"mcmc", GraphFormat::kWorkload, PartitionByStages},
    {"differentiable", GraphFormat::kWorkload, PartitionByStages},
    {"policy", GraphFormat::kWorkload, PartitionByStages},
};

const PartitionMethod& MethodOf(const std::string& name) {
  const auto* method = std::find_if(std::begin(kMethods), std::end(kMethods),
                                    [&](const PartitionMethod& m) { return name == m.name; });
  CHECK(method != std::end(kMethods));
  return *method;
}

Args MethodNames() {
  Args names;
  for (const PartitionMethod& method : kMethods) names.push_back(method.name);
  return names;
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

// Whether a planner reads graphs of a format. Planners that read profiles read workloads, too.
bool Reads(const PartitionMethod& method, GraphFormat format) {
  if (method.format == GraphFormat::kWorkload || method.format == format) return true;
  return method.format == GraphFormat::kPipeDream && format == GraphFormat::kWorkload;
}

}  // namespace

void PartitionFlags::Register(Flags& flags) {
  flags.AddExample(
      "partition --graph graph.txt --algorithm pipedream --machines 4,4 --bandwidth 10e9,1.25e9 "
      "--count-activations");
  flags.AddExample(
      "partition --model bert-large --compare-algorithms --device-speeds 8x1,8x2 --bandwidth 1e10 "
      "--report curves.html");
  flags.In(FlagTopic::kInput)
      .Add("--graph", graph_,
           {"<file>",
            "The operator graph to cut: a graph.txt profile of PipeDream, or the JSON of "
            "dnn-partitioning or of Piper; it may be gzipped."})
      .Common();
  flags.In(FlagTopic::kInput)
      .Add("--format", format_,
           {"<name>", "The format of --graph and --train-graphs.", "", "recognised by content"})
      .OneOf({"pipedream", "dnn", "piper"});
  flags.In(FlagTopic::kSearch)
      .Add("--algorithm", request_.algorithm,
           {"<name>", "The planner, which also determines what is minimised (below)."})
      .OneOf(MethodNames())
      .Common();
  RegisterCluster(flags);
  workload_.Register(flags);
  search_.Register(flags);
  RegisterRules(flags);
  AddNotes(flags);
}

void PartitionFlags::RegisterCluster(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kCluster);
  group
      .Add("--machines", machines_,
           {"<n,...>",
            "Size of each level of the network, innermost first: 4,2 is 2 servers of 4 GPUs.",
            "1 to 64 each"})
      .Common();
  group
      .Add("--bandwidth", bandwidth_,
           {"<bytes/s,...>", "Bytes per second on each level of --machines, innermost first.",
            "1 to 1e18"})
      .Common();
  group
      .Add("--devices", devices_,
           {"<n>",
            "Number of devices, all alike, for piper, 2bw and searches; for the dnn planners "
            "number of accelerators."})
      .Between(1, 1 << 20)
      .Common();
  memory_option_ = group
                       .Add("--memory", memory_,
                            {"<bytes>", "Bytes of memory of a device.", "",
                             "no limit, or what the file of dnn-partitioning or Piper says"})
                       .Between(0.0, 1e15)
                       .Common();
  group.Add("--server-speed", server_speed_,
            {"<x,...>",
             "With hetpipe: the speed of the GPUs of each server, relative to the profiled GPU.",
             "1e-6 to 1e6", "1"});
  group.Add("--server-memory", server_memory_,
            {"<bytes,...>", "With hetpipe: bytes of memory of a GPU of each server.", "0 to 1e15"});
}

void PartitionFlags::RegisterRules(Flags& flags) {
  flags.In(FlagTopic::kNetwork)
      .Add("--micro-batches", micro_batches_,
           {"<n>",
            "With piper and dapple: micro-batches per training step. With 2bw: profiled "
            "minibatches per global batch.",
            "", "4 per device, or as Piper's file says"})
      .Between(1, 1 << 20)
      .Common();
  flags.In(FlagTopic::kSearch)
      .Add("--seed", request_.seed, {"<n>", "Seed of all random draws.", "0 or more", "1"});
  FlagGroup group = flags.In(FlagTopic::kPlanner);
  group.Add("--count-activations", request_.count_activations,
            {"", "With pipedream: count the time to send activations between stages."});
  group.Add("--straight", request_.straight, {"", "With pipedream: one replica of every stage."});
  group.Add("--use-fewer-machines", request_.use_fewer_machines,
            {"", "With pipedream: leave machines idle if that is as fast."});
  group.Add("--no-data-parallel", no_data_parallel_,
            {"", "With pipedream or piper: one replica of every stage."});
  group.Add("--no-tensor-parallel", no_tensor_parallel_,
            {"", "With piper: tensor-parallel degree 1."});
  group.Add("--no-recompute", no_recompute_, {"", "With piper: no recomputation."});
  group.Add(
      "--non-contiguous", request_.non_contiguous,
      {"", "With dnn-throughput: a device may hold any operators, found by simulated annealing."});
}

void PartitionFlags::AddNotes(Flags& flags) {
  flags.AddNote("Planners, and what they read:");
  flags.AddTerm("pipedream, pipedream-paper",
                "PipeDream's dynamic programme, with the cost of its program or of its paper");
  flags.AddTerm("dapple, 2bw, hetpipe",
                "the planners of DAPPLE, PipeDream-2BW and HetPipe; like PipeDream's they read "
                "graph.txt and --model");
  flags.AddTerm("piper", "Piper's two-level dynamic programme; reads only Piper's JSON");
  flags.AddTerm("dnn-throughput, dnn-latency",
                "dnn-partitioning's placements, for the most samples per second or the shortest "
                "step; read only its JSON");
  flags.AddTerm("exhaustive, mcmc, differentiable, policy",
                "searches for stages on equal or unequal devices (exhaustive proves its answer); "
                "read every format and --model");
  flags.AddNote(
      "--budget and Ctrl-C end a search with the best so far and what is proven. pipedream has "
      "nothing to show before it is done; others (hetpipe and dnn-throughput above all) may have "
      "nothing in their first seconds. Ctrl-C ends the training of a policy with what it has "
      "learned by then, and so does --budget if nothing is searched for.");
}

PartitionGraph PartitionFlags::ReadGraph(const std::string& path) const {
  const std::string bytes = ReadFile(path);
  PartitionGraph graph{path, IsGzip(bytes) ? Gunzip(bytes, path) : bytes};
  graph.format = FormatOf(format_, graph.text);
  return graph;
}

PartitionRequest PartitionFlags::Request() const {
  constexpr int kMostMachines = 64;
  constexpr size_t kMostLevels = 8;
  PartitionRequest request = request_;
  request.machines = ParseNumbers("--machines", machines_, 1, kMostMachines);
  request.bandwidth_bytes_per_s = ParseNumbers("--bandwidth", bandwidth_, 1.0, 1e18);
  if (!request.machines.empty() &&
      (request.machines.size() != request.bandwidth_bytes_per_s.size() ||
       request.machines.size() > kMostLevels)) {
    throw InputError(
        fmt::format("--bandwidth: got {} levels, want one for each of the {} of "
                    "--machines, at most {}",
                    request.bandwidth_bytes_per_s.size(), request.machines.size(), kMostLevels));
  }
  request.server_speed = ParseNumbers("--server-speed", server_speed_, 1e-6, 1e6);
  request.server_memory_bytes = ParseNumbers("--server-memory", server_memory_, 0.0, 1e15);
  if (devices_ > 0) request.devices = devices_;
  if (micro_batches_ > 0) request.micro_batches = micro_batches_;
  if (memory_option_.is_given()) request.memory_bytes = memory_;
  request.data_parallel = !no_data_parallel_;
  request.tensor_parallel = !no_tensor_parallel_;
  request.recompute = !no_recompute_;
  return request;
}

PartitionFlags::Task PartitionFlags::FindTask() const {
  const bool has_graph = !graph_.empty() || !workload_.model().empty();
  const bool has_method = search_.compares() || !request_.algorithm.empty();
  if (!graph_.empty() && !workload_.model().empty()) {
    throw InputError("--model: got it with --graph, want one of them");
  }
  if (search_.compares() && !request_.algorithm.empty()) {
    throw InputError("--compare-algorithms: got it with --algorithm, want one of them");
  }
  if (learns() && !has_graph && !has_method) {
    if (search_.saves()) return Task::kLearn;
    throw InputError("--save-policy: got nothing, want a file for what is learned");
  }
  if (!has_graph) {
    throw InputError("--graph: got nothing, want a graph to cut, or a workload by --model");
  }
  if (has_method) return search_.compares() ? Task::kCompare : Task::kCut;
  throw InputError(fmt::format("--algorithm: got nothing, want one of {}; or --compare-algorithms",
                               fmt::join(MethodNames(), ", ")));
}

void PartitionFlags::CheckMethod(const PartitionMethod& method, const PartitionGraph& graph) const {
  if (!Reads(method, graph.format)) {
    throw InputError(fmt::format("--algorithm: {} wants a graph of format {}, {} is {}",
                                 method.name, NameOf(method.format), graph.path,
                                 NameOf(graph.format)));
  }
  const bool is_search = method.run == PartitionByStages;
  if (!is_search && !search_.FlagOfSearches().empty()) {
    throw InputError(fmt::format(
        "{}: {} takes none, want exhaustive, mcmc, differentiable, policy or --compare-algorithms",
        search_.FlagOfSearches(), method.name));
  }
  const bool is_policy = is_search && std::string(method.name) == "policy";
  const std::string flag = search_.FlagOfPolicies();
  const bool is_workers = method.run == PartitionByHetPipe && flag == "--policy";
  if (is_policy || is_workers || flag.empty()) return;
  throw InputError(
      fmt::format("{}: {} takes none, want policy or --compare-algorithms", flag, method.name));
}

void PartitionFlags::ReadGraphs(PartitionRequest& request) const {
  if (!graph_.empty()) request.graph = ReadGraph(graph_);
  if (!workload_.model().empty()) request.graph = workload_.Load({workload_.model()}).front();
  for (const std::string& path : search_.training_graphs()) {
    request.policy.training_graphs.push_back(ReadGraph(path));
  }
  for (PartitionGraph& graph : workload_.Load(workload_.training_models())) {
    request.policy.training_graphs.push_back(std::move(graph));
  }
}

PartitionJob PartitionFlags::Build() const {
  const Task task = FindTask();
  workload_.Check();
  PartitionJob job{Request()};
  ReadGraphs(job.request);
  if (workload_.is_given()) job.notes.push_back(workload_.Note());
  job.files = workload_.InputFiles();
  job.files.insert(job.files.end(), search_.training_graphs().begin(),
                   search_.training_graphs().end());
  if (!graph_.empty()) job.files.insert(job.files.begin(), graph_);
  if (task == Task::kCut) {
    const PartitionMethod& method = MethodOf(request_.algorithm);
    CheckMethod(method, job.request.graph);
    job.run = method.run;
    if (method.run == PartitionByHetPipe) job.request.worker_policy = WorkerPolicy();
    if (method.run != PartitionByStages) {
      job.request.budget = search_.SecondsOf(method.name);
      return job;
    }
  } else {
    job.run = task == Task::kCompare ? PartitionByStages : TrainForStages;
  }
  if (task == Task::kCompare && search_.saves() && !learns()) {
    throw InputError("--save-policy: got it without --train-graphs, want something to learn on");
  }
  search_.Apply(learns(), job.request);
  if (!job.request.policy.file.empty()) job.files.push_back(job.request.policy.file);
  job.page = search_.page();
  return job;
}

std::string PartitionFlags::WorkerPolicy() const {
  const std::string& policy = search_.policy();
  if (policy.empty() || policy == "np" || policy == "ed" || policy == "hd") return policy;
  throw InputError(fmt::format("--policy: got \"{}\", want one of np, ed, hd for hetpipe", policy));
}

}  // namespace stagecraft
