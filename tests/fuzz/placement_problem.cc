// Reads the JSON of dnn-partitioning, and solves small problems.
#include "search/partition/placement_problem.h"

#include <cmath>

#include "search/partition/max_load.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  constexpr int kMost = 16;  // the most devices or operators of a problem that is solved
  const std::string text = fuzz::Text(data, size);
  const auto read = [&] {
    const PlacementProblem problem = ParsePlacementProblem(text, "problem.json");
    const bool is_small = problem.devices() >= 1 && problem.devices() <= kMost &&
                          problem.dag.size() <= kMost && problem.dag.size() >= 1;
    if (!is_small) return;
    const auto best = SolveContiguousMaxLoad(problem);
    if (!best) return;
    CHECK(std::isfinite(best->max_load_ms) && best->max_load_ms >= best->bound_ms);
    CHECK(best->placement.size() == problem.nodes.size());
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
