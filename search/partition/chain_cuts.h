// ChainCuts: a chain of layers cut into a given number of stages, so that a whole batch is through
// as soon as possible.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace stagecraft {

// Times are in any unit, as whole numbers: answers are exact.
struct ChainProblem {
  std::vector<int64_t> layer_time;  // by layer, >= 0
  // [layer][cut]: the cost of cutting behind the layer with the cut-th cut, >= 0; at least stages -
  // 1 of each, for all layers but the last.
  std::vector<std::vector<int64_t>> cut_time;
  int stages = 1;
  int micro_batches = 1;
};

struct ChainCuts {
  std::vector<int> layers;  // by stage, each at least one
  int64_t cost = 0;
};

// Minimises (micro_batches - 1) * slowest stage + cuts, exactly (pipeDejavu's problem; the time of
// the first micro-batch in the stages is the same for all cuts and left out). Ties: the least
// slowest stage, then the first in lexicographic order of `layers`. No value if there are fewer
// layers than stages.
//
// Every sum of consecutive layers is tried as a limit of the slowest stage, in ascending order,
// until the limit alone costs as much as the best that was found. For each limit, the cheapest cuts
// take O(layers * stages) with a sliding minimum.
std::optional<ChainCuts> SolveChainCuts(const ChainProblem& problem);

}  // namespace stagecraft
