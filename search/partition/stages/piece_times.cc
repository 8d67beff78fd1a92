#include "search/partition/stages/piece_times.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stagecraft {

PieceTimes::PieceTimes(const StageProblem& problem, std::vector<int> order)
    : costs_(problem),
      choices_(ReplicaChoices(problem)),
      order_(std::move(order)),
      pieces_{problem.graph.dag.size()} {
  const Dag& dag = costs_.dag();
  std::vector<int> position(dag.size());
  for (int p = 0; p < dag.size(); ++p) position[order_[p]] = p;
  before_.resize(dag.size() + 1);
  crossing_.assign(dag.size() + 1, 0);
  for (int p = 0; p < dag.size(); ++p) {
    const int node = order_[p];
    before_[p + 1] = before_[p];
    before_[p + 1] += costs_.of(node);
    int last = p;
    for (const int consumer : dag.consumers[node]) last = std::max(last, position[consumer]);
    for (int cut = p + 1; cut <= last; ++cut) crossing_[cut] += costs_.of(node).activations;
  }
  scores_.resize(choices_.size(), pieces_.count());
  for (int begin = 0; begin < pieces_.length; ++begin) {
    for (int end = begin + 1; end <= pieces_.length; ++end) {
      const int piece = pieces_.index(begin, end);
      for (size_t choice = 0; choice < choices_.size(); ++choice) {
        scores_(choice, piece) = Score(begin, end, choices_[choice], 0);
      }
    }
  }
}

// A stage that begins at 0 is the first.
double PieceTimes::Score(int begin, int end, const StageReplicas& on, int behind) const {
  StageSizes sizes = before_[end];
  sizes -= before_[begin];
  const int64_t out = begin > 0 ? crossing_[end] : 0;
  return StageCosts::Score(costs_.Seconds(sizes, on, crossing_[begin], out),
                           costs_.Excess(sizes, on, behind));
}

std::vector<int> PieceTimes::BestEnds(const std::vector<StageReplicas>& replicas) const {
  const auto stages = static_cast<int>(replicas.size());
  const int length = pieces_.length;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  Matrix best = Matrix::Constant(stages + 1, length + 1, kNever);
  Eigen::MatrixXi next = Eigen::MatrixXi::Zero(stages + 1, length + 1);
  best(stages, length) = 0;
  int behind = 0;
  for (int stage = stages - 1; stage >= 0; --stage) {
    for (int begin = stage; begin <= (stage > 0 ? length - 1 : 0); ++begin) {
      for (int end = begin + 1; end <= length; ++end) {
        const double rest = best(stage + 1, end);
        if (rest >= best(stage, begin)) continue;
        const double slowest = std::max(rest, Score(begin, end, replicas[stage], behind));
        if (slowest >= best(stage, begin)) continue;
        best(stage, begin) = slowest;
        next(stage, begin) = end;
      }
    }
    behind += replicas[stage].replicas;
  }
  std::vector<int> ends;
  for (int stage = 0, begin = 0; stage < stages; ++stage) {
    begin = next(stage, begin);
    ends.push_back(begin);
  }
  return ends;
}

}  // namespace stagecraft
