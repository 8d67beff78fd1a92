#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "search/partition/partition_check.h"

namespace stagecraft {
namespace {

// PipeDreamChecker walks the tree of stages, outermost level first.
class PipeDreamChecker {
 public:
  PipeDreamChecker(const TimedGraph& graph, const PipeDreamOptions& options)
      : graph_(graph), options_(options) {}

  PartitionCheck Check(const PipeDreamPartition& partition) {
    PartitionCheck check;
    std::vector<NodeSet> leaves;
    AddLeaves(partition.stages, options_.levels.size(), leaves);
    CheckStageOrder(graph_.dag, leaves, errors_);
    if (errors_.empty()) {
      check.objective =
          Slowest(partition.stages, options_.levels.size(), NodeSet(graph_.dag.size()));
    }
    check.errors = std::move(errors_);
    return check;
  }

 private:
  void AddLeaves(const std::vector<PipeDreamStage>& stages, size_t levels,
                 std::vector<NodeSet>& leaves) {
    int machines = 0;
    for (const PipeDreamStage& stage : stages) {
      machines += stage.replicas;
      if (stage.replicas < 1 || (options_.straight && stage.replicas > 1)) {
        errors_.push_back(fmt::format("a stage has {} replicas", stage.replicas));
      }
      if (levels == 1) {
        leaves.push_back(stage.nodes);
        continue;
      }
      NodeSet inside(graph_.dag.size());
      for (const PipeDreamStage& part : stage.inside) inside |= part.nodes;
      if (inside != stage.nodes) errors_.push_back("a stage holds other nodes than its parts");
      AddLeaves(stage.inside, levels - 1, leaves);
    }
    const int available = options_.levels[levels - 1].machines;
    if (machines == available || (options_.use_fewer_machines && machines < available)) return;
    errors_.push_back(
        fmt::format("level {} takes {} machines of {}", levels - 1, machines, available));
  }

  double ParameterBytes(const NodeSet& nodes) const {
    double bytes = 0;
    for (const int node : Members(nodes)) {
      bytes += static_cast<double>(graph_.nodes[node].parameters.count());
    }
    return bytes;
  }

  double OneMachine(const PipeDreamStage& stage, size_t level, const NodeSet& done) {
    if (level > 0) return Slowest(stage.inside, level, done);
    Duration time;
    for (const int node : Members(stage.nodes)) time += graph_.nodes[node].compute();
    return time.seconds();
  }

  void CheckMemory(const PipeDreamStage& stage, int behind) {
    if (!options_.memory) return;
    double bytes = ParameterBytes(stage.nodes);
    for (const int node : Members(stage.nodes)) {
      bytes += static_cast<double>(graph_.nodes[node].activation.count());
    }
    const int copies = (behind + stage.replicas - 1) / stage.replicas;
    if (copies * bytes <= static_cast<double>(options_.memory->count())) return;
    errors_.push_back(
        fmt::format("a stage needs {} bytes, has {}", copies * bytes, options_.memory->count()));
  }

  // Returns the time of the slowest of these stages of level `levels` - 1, with its cuts.
  double Slowest(const std::vector<PipeDreamStage>& stages, size_t levels, NodeSet done) {
    const MachineLevel& level = options_.levels[levels - 1];
    const double bandwidth = level.bandwidth.bytes_per_s();
    const double within = levels > 1 ? options_.levels[levels - 2].machines : 1;
    const bool is_paper = options_.rule == PipeDreamRule::kPaper;
    double slowest = 0;
    int behind = 0;  // machines of the stages behind
    for (const PipeDreamStage& stage : stages) behind += stage.replicas;
    for (size_t s = 0; s < stages.size(); ++s) {
      const PipeDreamStage& stage = stages[s];
      const double r = stage.replicas;
      behind -= stage.replicas;
      CheckMemory(stage, behind);
      const double compute = OneMachine(stage, levels - 1, done);
      const double weights = ParameterBytes(stage.nodes);
      if (is_paper) {
        slowest = std::max({slowest, compute / r, 2 * (r - 1) * weights / bandwidth / r});
      } else {
        const double sync = 4 * (r - 1) * weights / (bandwidth * r) / (s == 0 ? within : 1);
        slowest = std::max(slowest, (compute + sync) / r);
      }
      if (s > 0) slowest = std::max(slowest, Transfer(done, r, bandwidth));
      done |= stage.nodes;
      if (s > 0 && !is_paper && !done.all()) {
        slowest = std::max(slowest, Transfer(done, r, bandwidth));
      }
    }
    return slowest;
  }

  double Transfer(const NodeSet& done, double replicas, double bandwidth) const {
    const double time = 2 * FrontierBytes(graph_, done) / bandwidth;
    if (options_.rule == PipeDreamRule::kPaper) return time;
    return options_.activation_compression ? time / replicas / *options_.activation_compression : 0;
  }

  const TimedGraph& graph_;
  const PipeDreamOptions& options_;
  std::vector<std::string> errors_;
};

}  // namespace

PartitionCheck CheckPipeDream(const TimedGraph& graph, const PipeDreamOptions& options,
                              const PipeDreamPartition& partition) {
  return PipeDreamChecker(graph, options).Check(partition);
}

}  // namespace stagecraft
