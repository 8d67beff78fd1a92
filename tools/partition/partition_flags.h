// The flags of `partition`: which graph is cut, by which planner, for which devices.
#pragma once

#include <string>
#include <vector>

#include "tools/partition/partition_request.h"
#include "tools/partition/stage_search_flags.h"
#include "tools/partition/workload_graph_flags.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// A planner. `format` is that of the graphs that it reads, or kWorkload if it reads all formats.
struct PartitionMethod {
  const char* name;
  GraphFormat format;
  PartitionAnswer (*run)(const PartitionRequest& request);
};

// What the flags ask for, checked.
struct PartitionJob {
  PartitionRequest request;
  PartitionAnswer (*run)(const PartitionRequest& request) = nullptr;
  std::string page = "";                // the HTML file to write; empty: none
  std::vector<std::string> files = {};  // that were read
  std::vector<std::string> notes = {};
};

// PartitionFlags: a job of `partition`, as a command line describes it.
class PartitionFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);

  // Returns what the flags ask for, with the graphs read. Throws InputError that names the flag or
  // file at fault.
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
