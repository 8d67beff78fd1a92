// Prints how far every solver of stage problems is from the best of all plans,
// on seeded small problems: stage_oracle [first seed] [problems].

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "costmodel/statistics.h"
#include "search/partition/stages/drawn_stages.h"
#include "search/partition/stages/oracle_gaps.h"
#include "search/partition/stages/stage_comparison.h"
#include "search/stopwatch.h"

namespace stagecraft {
namespace {

void PrintGaps(int first, int problems) {
  std::vector<StageProblem> drawn;
  std::vector<double> least;
  std::vector<double> plans;
  for (int seed = first; seed < first + problems; ++seed) {
    drawn.push_back(OracleProblem(seed));
    EveryStagePlan every(drawn.back());
    least.push_back(every.LeastScore());
    plans.push_back(static_cast<double>(every.plans()));
  }
  fmt::print("{} problems of {:.0f} plans in the median, {:.0f} at most; {} evaluations\n",
             problems, NearestRankQuantile(plans, 0.5), NearestRankQuantile(plans, 1),
             kOracleEvaluations);
  fmt::print("{:16} {:>8} {:>8} {:>8} {:>8} {:>10}\n", "", "exact", "median", "p90", "worst",
             "ms each");
  for (const StageAlgorithm algorithm : AllStageAlgorithms()) {
    const Stopwatch watch;
    std::vector<double> gaps;
    int exact = 0;
    for (int p = 0; p < problems; ++p) {
      gaps.push_back(OracleGap(algorithm, drawn[p], least[p], first + p));
      if (gaps.back() <= 0) ++exact;
    }
    fmt::print("{:16} {:>7.1f}% {:>7.2f}% {:>7.2f}% {:>7.2f}% {:>10.1f}\n", NameOf(algorithm),
               100.0 * exact / problems, 100 * NearestRankQuantile(gaps, 0.5),
               100 * NearestRankQuantile(gaps, 0.9), 100 * NearestRankQuantile(gaps, 1),
               1e3 * watch.Seconds() / problems);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace stagecraft

int main(int argc, char** argv) {
  const int first = argc > 1 ? std::atoi(argv[1]) : 1;
  const int problems = argc > 2 ? std::atoi(argv[2]) : 500;
  stagecraft::PrintGaps(first, problems);
  return 0;
}
