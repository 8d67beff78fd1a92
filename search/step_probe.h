// StepProbe: what the passes, messages and exchanges of a plan's step take, as its lowering says.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "search/problem.h"
#include "sim/lowering/lowering_memory.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// One kind of pass of a chunk: the least that any pass of this kind takes.
struct ProbedPass {
  Duration alone;  // from its beginning to its end, with what its own parts make it wait for
  Duration next;   // from the end of the pass before it on the same stage to its end
  // When each of its parts ends, counted like `next`. Parts are the buckets beside which its
  // data-parallel ranks exchange; there is one if they exchange nothing beside it.
  std::vector<Duration> ends;
  Duration host;                     // what its host launches
  bool waits = false;                // the host waits for a message first
  Duration gathers;                  // of parameters for it, if every pass gathers
  Duration longest_gather;           // of one part
  std::vector<Duration> reductions;  // of gradients after each part; empty if there are none
};

// A chunk of a worker.
struct ProbedChunk {
  ProbedPass forward;
  ProbedPass backward;  // zero without backwards; of inputs alone if they are split
  ProbedPass weights;   // zero unless backwards are split
  Duration forward_send, backward_send;  // to the parts after and before it; zero within a stage
};

// One simulated replica of a stage.
struct ProbedWorker {
  int stage = 0;
  int replica = 0;
  std::vector<ProbedChunk> chunks;
  bool sends_block = false;  // it computes nothing while it sends
  Duration late_reductions;  // of gradients that are reduced when all passes are over
  Duration update;           // what it runs to update its parameters
  Duration late_gathers;     // of parameters after the update
};

struct ProbedStep {
  std::vector<ProbedWorker> workers;
  bool splits_backward = false;
  Duration norm;  // of all gradients: after the passes and reductions, before any update
};

class StepProbe {
 public:
  // Both must outlive it. The memory is one of the problem's workload and cluster.
  StepProbe(const SearchProblem& problem, LoweringMemory& memory)
      : problem_(problem), lowering_(memory) {}

  // Returns the times of a plan that has no FindErrors(); its passes need not be in order yet. They
  // are those of ops on idle links, so whatever the engine adds makes them longer. No value for
  // plans whose passes are not those of separate pipelines that flush, or that split the
  // vocabulary.
  std::optional<ProbedStep> Measure(const Plan& plan);

 private:
  const SearchProblem& problem_;
  LoweringMemory& lowering_;
};

}  // namespace stagecraft
