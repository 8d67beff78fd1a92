// StagePolicy: learned probabilities of cuts and of choices of devices, for any graph and any
// devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/learning/layers.h"
#include "search/learning/tape_operations.h"
#include "search/partition/stages/policy_graph.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct StagePolicyShape {
  int width = 64;            // of every layer
  bool is_directed = false;  // producers and consumers pass messages separately
  friend bool operator==(const StagePolicyShape&, const StagePolicyShape&) = default;
};

// PolicyBatch is a batch of plans that are decided side by side, as rows.
struct PolicyBatch {
  std::vector<int> order;  // the topological order that is cut
  std::vector<int> stages;
  std::vector<std::vector<int>> ends;     // by plan and stage, as in PlanFromCuts()
  std::vector<std::vector<int>> choices;  // by plan and stage: index in PolicyGraph::choices()
  int plans() const { return static_cast<int>(stages.size()); }
};

// PolicyDecisions has, for every decision, plans x decisions, the logarithm of its probability, 0
// if there was no choice, and the entropy of the choice.
struct PolicyDecisions {
  Variable log_probability;
  Variable entropy;
};

// StagePolicy is modelled on DRL-PP: a graph convolution encodes the operators; the number of
// stages is given; an LSTM goes over the operators in topological order and draws whether to cut
// behind each, where a mask enforces exactly stages - 1 cuts; a head draws kind and replicas of
// each stage from front to back, with a mask that leaves a device to every later stage. The number
// of parameters depends on neither graph nor devices.
class StagePolicy {
 public:
  StagePolicy(const StagePolicyShape& shape, uint64_t seed);

  // Draws `plans` plans of `stages` stages (at most MostStages()) along `order`. Throws Stopped.
  PolicyBatch Draw(const PolicyGraph& graph, std::vector<int> order, int stages, int plans,
                   Random& random, const StopSign& stop = {});
  // Returns the decisions that led to `batch`, on a tape whose gradients are added to parameters().
  // Throws Stopped.
  PolicyDecisions Decisions(Tape& tape, const PolicyGraph& graph, const PolicyBatch& batch,
                            const StopSign& stop = {});

  ParameterSet& parameters() { return parameters_; }
  const StagePolicyShape& shape() const { return shape_; }

  // The policy as text. Read() throws an InputError that begins with `source` if the text has
  // another shape or version.
  std::string Write() const;
  static StagePolicy Read(const std::string& text, const std::string& source);

 private:
  friend class PolicyPass;
  Variable Encode(Tape& tape, const PolicyGraph& graph) const;

  StagePolicyShape shape_;
  ParameterSet parameters_;
  std::vector<LinearLayer> encoder_;  // undirected: one for each layer; directed: three
  LstmCell partitioner_;
  LinearLayer cut_;
  LinearLayer choice_hidden_;
  LinearLayer choice_;
};

}  // namespace stagecraft
