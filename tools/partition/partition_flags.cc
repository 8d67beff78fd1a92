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

constexpr const char* kNotes =
    "pipedream reads graph.txt profiles, dnn reads dnn-partitioning's JSON, piper reads Piper's\n"
    "JSON; without --format the contents decide. Levels of --machines and --bandwidth are listed\n"
    "innermost first: 4,4 is 4 per server, 4 servers.\n\n"
    "exhaustive, mcmc, differentiable and policy search for stages on unlike devices, on graphs "
    "of\n"
    "any format and on workloads (--model).\n\n"
    "--budget and Ctrl-C end it with the best so far and what is proven. pipedream has nothing\n"
    "to show before it is done, others (hetpipe and dnn-throughput above all) may have nothing\n"
    "in their first seconds. Ctrl-C ends the training of a policy with what it learned by then,\n"
    "and so does --budget where nothing is searched for.\n\n"
    "example: stagecraft partition --graph graph.txt --algorithm pipedream --machines 4,4 "
    "--bandwidth 10e9,1.25e9 --count-activations\n"
    "         stagecraft partition --model bert-large --compare-algorithms --device-speeds 8x1,8x2 "
    "--bandwidth 1e10 --report curves.html";

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

// Profiles and workloads are alike to planners of profiles.
bool Reads(const PartitionMethod& method, GraphFormat format) {
  if (method.format == GraphFormat::kWorkload || method.format == format) return true;
  return method.format == GraphFormat::kPipeDream && format == GraphFormat::kWorkload;
}

}  // namespace

void PartitionFlags::Register(CLI::App& app) {
  app.footer(kNotes);
  app.add_option("--graph", graph_, "the graph, perhaps gzipped");
  app.add_option("--format", format_, "of graphs")->check(OneOf({"pipedream", "dnn", "piper"}));
  app.add_option("--algorithm", request_.algorithm, "whose problem and method")
      ->check(OneOf(MethodNames()));
  RegisterCluster(app);
  RegisterRules(app);
  workload_.Register(app);
  search_.Register(app);
}

void PartitionFlags::RegisterCluster(CLI::App& app) {
  app.add_option("--machines", machines_, "by level, innermost first");
  app.add_option("--bandwidth", bandwidth_, "bytes/s by level, innermost first");
  app.add_option("--devices", devices_, "how many (piper, 2bw, searches; dnn: accelerators)")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--micro-batches", micro_batches_,
                 "of a step (piper, dapple); minibatches of a batch (2bw)")
      ->check(CLI::Range(1, 1 << 20));
  memory_option_ =
      app.add_option("--memory", memory_, "bytes of a device; turns the method's memory rule on")
          ->check(CLI::Range(0.0, 1e15));
  app.add_option("--server-speed", server_speed_,
                 "by server, against the profiled board (hetpipe)");
  app.add_option("--server-memory", server_memory_, "bytes of a GPU, by server (hetpipe)");
}

void PartitionFlags::RegisterRules(CLI::App& app) {
  app.add_option("--seed", request_.seed, "of random draws [1]");
  app.add_flag("--count-activations", request_.count_activations,
               "transfers between stages take time (pipedream)");
  app.add_flag("--straight", request_.straight, "no replication (pipedream)");
  app.add_flag("--use-fewer-machines", request_.use_fewer_machines,
               "leave machines idle where that is as good (pipedream)");
  app.add_flag("--no-data-parallel", no_data_parallel_, "one replica of every stage");
  app.add_flag("--no-tensor-parallel", no_tensor_parallel_, "tensor degree 1 (piper)");
  app.add_flag("--no-recompute", no_recompute_, "no recomputation (piper)");
  app.add_flag("--non-contiguous", request_.non_contiguous,
               "any placement, by annealing (dnn-throughput)");
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
  if (memory_option_->count() > 0) request.memory_bytes = memory_;
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
