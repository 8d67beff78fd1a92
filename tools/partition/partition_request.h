// PartitionRequest: what the flags of `partition` ask for; PartitionAnswer:
// what came out, in the words of the report.
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

// kWorkload: not read, but made of a workload and a cost model.
enum class GraphFormat { kPipeDream, kDnn, kPiper, kWorkload };
// "pipedream", "dnn", "piper", "workload".
const char* NameOf(GraphFormat format);

struct PartitionGraph {
  std::string path;  // or the workload's name; opens every error
  std::string text;  // unzipped
  GraphFormat format = GraphFormat::kPipeDream;
  std::optional<TimedGraph> timed = {};  // of kWorkload
};

inline constexpr int kPolicyWidth = 32;

// How a learned policy comes about.
struct PolicyRequest {
  std::optional<int> width;  // kPolicyWidth, or the file's
  bool is_directed = false;
  std::string file;  // of a saved one to start from; empty: it has learned nothing
  // Where not empty, it learns on each graph with each set of devices first.
  std::vector<PartitionGraph> training_graphs;
  std::vector<std::vector<StageDeviceKind>> training_devices;
  int rounds = 0;
  std::function<void(int rounds_done)> report = {};
  std::string save;  // where to write it in the end; may be empty
};

struct PartitionRequest {
  PartitionGraph graph;
  std::string algorithm;  // empty: all that search (StageAlgorithm), beside each other
  // Innermost level first; of one length.
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
  Budget budget;  // of each search for stages, or of training alone; of others without evaluations
  // HetPipe's; one for each server, or empty.
  std::vector<double> server_speed;         // against the profile's GPU
  std::vector<double> server_memory_bytes;  // of a GPU
  std::string worker_policy;                // "np", "ed", "hd"; empty: the best of them
  // Of those that search for stages.
  std::vector<StageDeviceKind> device_kinds;  // empty: machines or devices, all alike
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
  // Each where the method has it.
  std::optional<double> bottleneck_s;
  std::optional<double> latency_s;
  std::optional<double> dp_time_s;
  std::optional<double> minibatches_per_s;
  std::optional<double> added_minibatches_per_s;  // of workers, as if none waited for another
  // Proven of every answer to the same question: its latency_s or, where it has none, its
  // bottleneck_s is not less; its minibatches_per_s is not more.
  std::optional<double> bound_s;
  std::optional<double> bound_minibatches_per_s;
  std::optional<int> states;
  std::string obstacle;            // why there is no partition; empty: there is one
  std::vector<std::string> notes;  // what rests on an assumption, what was chosen
  bool is_cut_short = false;       // by Ctrl-C or its budget: no stages does not mean that none fit
  bool is_interrupted = false;     // by Ctrl-C
  std::string saved_policy;        // where it was written; empty: nowhere
  std::string unsaved_policy;      // why it was not, where that is not the obstacle
  // Of those that search for stages: the problem, and what each spent and found.
  std::vector<StageDeviceKind> device_kinds;
  std::optional<AlgorithmComparison> comparison;
};

// Each solves, checks the result anew and throws InputError for flags that it
// cannot do without. Where its budget ends first the answer is the best so far.
// Where there is none yet it has no stages, or Stopped is thrown.
PartitionAnswer PartitionByPipeDream(const PartitionRequest& request);
// Ended by `stop`, not by the request's budget.
PartitionAnswer PartitionByPipeDream(const PartitionRequest& request, const StopSign& stop);
PartitionAnswer PartitionByDapple(const PartitionRequest& request);
PartitionAnswer PartitionByTwoBuffer(const PartitionRequest& request);
PartitionAnswer PartitionByHetPipe(const PartitionRequest& request);
PartitionAnswer PartitionByPiper(const PartitionRequest& request);
PartitionAnswer PartitionByPlacement(const PartitionRequest& request);
// exhaustive, mcmc, differentiable, policy, or all of them.
PartitionAnswer PartitionByStages(const PartitionRequest& request);

// Only trains the policy and saves it: notes, no stages. An obstacle where the budget ended
// before it learned anything.
PartitionAnswer TrainForStages(const PartitionRequest& request);

}  // namespace stagecraft
