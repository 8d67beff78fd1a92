// The flags of `partition`: which graph, whose problem, on what.
#pragma once

#include <string>
#include <vector>

#include "tools/partition/partition_request.h"
#include "tools/partition/stage_search_flags.h"
#include "tools/partition/workload_graph_flags.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// A planner: the format of graphs that it reads, or kWorkload where it reads all.
struct PartitionMethod {
  const char* name;
  GraphFormat format;
  PartitionAnswer (*run)(const PartitionRequest& request);
};

// What was asked for, checked.
struct PartitionJob {
  PartitionRequest request;
  PartitionAnswer (*run)(const PartitionRequest& request) = nullptr;
  std::string page = "";                // to write; may be empty
  std::vector<std::string> files = {};  // that were read
  std::vector<std::string> notes = {};
};

class PartitionFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);

  // Reads the graphs. Throws InputError naming the flag or file at fault.
  PartitionJob Build() const;

 private:
  enum class Task { kCut, kCompare, kLearn };

  void RegisterCluster(Flags& flags);
  void RegisterRules(Flags& flags);
  static void AddNotes(Flags& flags);
  bool learns() const {
    return !search_.training_graphs().empty() || !workload_.training_models().empty();
  }
  Task FindTask() const;
  void CheckMethod(const PartitionMethod& method, const PartitionGraph& graph) const;
  std::string WorkerPolicy() const;
  PartitionRequest Request() const;  // without graphs
  PartitionGraph ReadGraph(const std::string& path) const;
  void ReadGraphs(PartitionRequest& request) const;

  WorkloadGraphFlags workload_;
  StageSearchFlags search_;
  PartitionRequest request_;
  std::string graph_, format_, machines_, bandwidth_, server_speed_, server_memory_;
  int devices_ = 0, micro_batches_ = 0;
  double memory_ = 0;
  Flag memory_option_;
  bool no_data_parallel_ = false, no_tensor_parallel_ = false, no_recompute_ = false;
};

}  // namespace stagecraft
