// ChainCuts: how to cut a chain of layers into a given number of stages, so that a whole batch is
// done as soon as possible.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace stagecraft {

// ChainProblem describes the chain. Times are whole numbers in any unit, so answers are exact.
struct ChainProblem {
  std::vector<int64_t> layer_time;  // by layer, >= 0
  // [layer][cut]: what it costs, >= 0, if the cut with this number is behind the layer. For all
  // layers but the last, with at least stages - 1 cuts each.
  std::vector<std::vector<int64_t>> cut_time;
  int stages = 1;
  int micro_batches = 1;
};

struct ChainCuts {
  std::vector<int> layers;  // by stage, each at least one
  int64_t cost = 0;
};

// Minimises (micro_batches - 1) * slowest stage + cuts, exactly (pipeDejavu's problem; the time of
// the first micro-batch in the stages is the same for all cuts and left out). Among equal costs
// returns the cuts whose slowest stage is fastest, then the first in lexicographic order of
// `layers`. No value if there are fewer layers than stages.
//
// Every sum of consecutive layers is tried as a limit of the slowest stage, in ascending order,
// until the limit alone costs as much as the best cuts found. For each limit, a sliding minimum
// finds the cheapest cuts in O(layers * stages).
std::optional<ChainCuts> SolveChainCuts(const ChainProblem& problem);

}  // namespace stagecraft
