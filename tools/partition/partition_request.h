// PartitionRequest: what the flags of `partition` ask for. PartitionAnswer: what a planner found,
// in the terms of the report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "search/partition/stages/stage_problem.h"
#include "search/partition/stop_sign.h"
#include "search/partition/timed_graph.h"
#include "search/solution.h"
#include "tools/report/algorithm_comparison.h"

namespace stagecraft {

// The formats of graph files; kWorkload: not read, but made from a workload by a cost model.
enum class GraphFormat { kPipeDream, kDnn, kPiper, kWorkload };
// "pipedream", "dnn", "piper", "workload".
const char* NameOf(GraphFormat format);

struct PartitionGraph {
  std::string path;  // or the workload's name; begins every error
  std::string text;  // contents of the file, unzipped
  GraphFormat format = GraphFormat::kPipeDream;
  std::optional<TimedGraph> timed = {};  // only of kWorkload
};

inline constexpr int kPolicyWidth = 32;

// How a learned policy is made.
struct PolicyRequest {
  std::optional<int> width;  // without a value: kPolicyWidth, or that of the file
  bool is_directed = false;
  std::string file;  // a saved policy to start from; empty: an untrained one
  // If not empty, the policy is first trained on each graph with each set of devices.
  std::vector<PartitionGraph> training_graphs;
  std::vector<std::vector<StageDeviceKind>> training_devices;
  int rounds = 0;
  std::function<void(int rounds_done)> report = {};
  std::string save;  // the file to write the policy to; empty: none
};

struct PartitionRequest {
  PartitionGraph graph;
  std::string algorithm;  // empty: compare all that search for stages (StageAlgorithm)
  // Both by level, the innermost first, and of the same length.
  std::vector<int> machines;
  std::vector<double> bandwidth_bytes_per_s;
  std::optional<int> devices;
  std::optional<int> micro_batches;
  std::optional<double> memory_bytes;
  bool count_activations = false;
  bool straight = false;
  bool use_fewer_machines = false;
  bool data_parallel = true;
  bool tensor_parallel = true;
  bool recompute = true;
  bool non_contiguous = false;
  uint64_t seed = 1;
  // Of each search for stages, or of training if nothing else is done; other planners take no limit
  // of evaluations.
  Budget budget;
  // For HetPipe; one for each server, or empty.
  std::vector<double> server_speed;         // relative to the GPU that was profiled
  std::vector<double> server_memory_bytes;  // of a GPU
  std::string worker_policy;                // "np", "ed", "hd"; empty: the best of them
  // For planners that search for stages.
  std::vector<StageDeviceKind> device_kinds;  // empty: `machines` or `devices`, all of one type
  PolicyRequest policy;
};

struct PartitionedStage {
  std::vector<std::string> nodes;
  int replicas = 1;
  int tensor = 1;
  double time_s = 0;
  double memory_bytes = 0;
  std::string place;  // "accelerator 2"; empty: any
};

struct PartitionAnswer {
  std::vector<PartitionedStage> stages;
  // Figures; without a value if the planner does not have them.
  std::optional<double> bottleneck_s;
  std::optional<double> latency_s;
  std::optional<double> dp_time_s;
  std::optional<double> minibatches_per_s;
  std::optional<double> added_minibatches_per_s;  // sum of workers, as if none waited for another
  // Proven bounds: no answer to the same question has a lower latency_s, or bottleneck_s if there
  // is no latency_s, and none has a higher minibatches_per_s.
  std::optional<double> bound_s;
  std::optional<double> bound_minibatches_per_s;
  std::optional<int> states;
  std::string obstacle;            // why there is no partition; empty: there is one
  std::vector<std::string> notes;  // assumptions of the answer, and what was chosen
  bool is_cut_short = false;       // by Ctrl-C or its budget: no stages does not mean that none fit
  bool is_interrupted = false;     // by Ctrl-C
  std::string saved_policy;        // the file that it was written to; empty: none
  std::string unsaved_policy;      // why it was not written, if that is not the obstacle
  // Of planners that search for stages: the devices, and what each search spent and found.
  std::vector<StageDeviceKind> device_kinds;
  std::optional<AlgorithmComparison> comparison;
};

// Each planner solves the problem and checks the result anew. Throws InputError if flags that it
// needs are missing. If its budget ends first the answer is the best so far; if there is none yet
// the answer has no stages, or the planner throws Stopped.
PartitionAnswer PartitionByPipeDream(const PartitionRequest& request);
// The same, but ended by `stop` and not by the request's budget.
PartitionAnswer PartitionByPipeDream(const PartitionRequest& request, const StopSign& stop);
PartitionAnswer PartitionByDapple(const PartitionRequest& request);
PartitionAnswer PartitionByTwoBuffer(const PartitionRequest& request);
PartitionAnswer PartitionByHetPipe(const PartitionRequest& request);
PartitionAnswer PartitionByPiper(const PartitionRequest& request);
PartitionAnswer PartitionByPlacement(const PartitionRequest& request);
// Runs exhaustive, mcmc, differentiable, policy, or all of them.
PartitionAnswer PartitionByStages(const PartitionRequest& request);

// Only trains the policy and saves it; the answer has notes but no stages. It has an obstacle if
// the budget ended before the policy learned anything.
PartitionAnswer TrainForStages(const PartitionRequest& request);

}  // namespace stagecraft
