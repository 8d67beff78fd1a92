// PartitionRequest: what the flags of `partition` ask for; PartitionAnswer:
// what came out, in the words of the report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stagecraft {

enum class GraphFormat { kPipeDream, kDnn, kPiper };

struct PartitionRequest {
  std::string graph_path;
  std::string text;  // of the graph, unzipped
  GraphFormat format = GraphFormat::kPipeDream;
  std::string algorithm;
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
  // HetPipe's; one for each server, or empty.
  std::vector<double> server_speed;         // against the profile's board
  std::vector<double> server_memory_bytes;  // of a GPU
  std::string policy;                       // "np", "ed", "hd"; empty: the best of them
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
  std::optional<int> states;
  std::string obstacle;            // why there is no partition; empty: there is one
  std::vector<std::string> notes;  // what rests on an assumption, what was chosen
};

// Each solves, checks the result anew and throws InputError for flags that it
// cannot do without.
PartitionAnswer PartitionByPipeDream(const PartitionRequest& request);
PartitionAnswer PartitionByDapple(const PartitionRequest& request);
PartitionAnswer PartitionByTwoBuffer(const PartitionRequest& request);
PartitionAnswer PartitionByHetPipe(const PartitionRequest& request);
PartitionAnswer PartitionByPiper(const PartitionRequest& request);
PartitionAnswer PartitionByPlacement(const PartitionRequest& request);

}  // namespace stagecraft
