// Prints what every solver of stage problems finds for the published profiles: stage_study <folder
// with network/graph.txt> [evaluations] [policy width] [algorithms]. Eight devices as profiled and
// eight of twice the speed share 10 GB/s.

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/stages/stage_comparison.h"
#include "search/partition/stages/stage_exact.h"
#include "search/partition/timed_graph.h"
#include "sim/workload/readers/graph_txt.h"

namespace stagecraft {
namespace {

void PrintRuns(const std::string& folder, const std::string& network,
               const StageComparison& comparison, const std::vector<std::string>& names) {
  const std::string path = folder + "/" + network + "/graph.txt";
  StageProblem problem{ToTimedGraph(ReadProfiledGraph(path), path), {{8, 1}, {8, 2}}, {}};
  problem.bandwidth = Bandwidth(1e10);
  const double exact = SolveStagesExactly(problem)->score;
  fmt::print("{}: {} operators, exact {:.3f} ms, {} evaluations\n", network,
             problem.graph.nodes.size(), exact * 1e3, comparison.budget.evaluations);
  for (const StageAlgorithm algorithm : AllStageAlgorithms()) {
    const bool is_wanted =
        names.empty() || std::find(names.begin(), names.end(), NameOf(algorithm)) != names.end();
    if (!is_wanted) continue;
    const StageRun run = RunStageAlgorithm(algorithm, problem, comparison);
    fmt::print("  {:16} {:>9.3f} ms {:>8.2f}% {:>8.2f} s   best after", NameOf(run.algorithm),
               run.score * 1e3, 100 * (run.score / exact - 1), run.seconds);
    fmt::print(" {} evaluations\n", run.curve.back().evaluations);
  }
}

}  // namespace
}  // namespace stagecraft

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const stagecraft::StageComparison comparison{
      .budget = {.evaluations = argc > 2 ? std::atoi(argv[2]) : 5000},
      .policy_width = argc > 3 ? std::atoi(argv[3]) : 16};
  const std::vector<std::string> names(argv + std::min(argc, 4), argv + argc);
  for (const char* network : {"vgg16", "gnmt", "resnet50"}) {
    stagecraft::PrintRuns(argv[1], network, comparison, names);
  }
  return 0;
}
