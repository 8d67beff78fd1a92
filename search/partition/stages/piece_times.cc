#include "search/partition/stages/piece_times.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stagecraft {

namespace {

class OrderedCosts {
 public:
  OrderedCosts(const StageProblem& problem, const std::vector<int>& order) : costs_(problem) {
    const Dag& dag = costs_.dag();
    std::vector<int> position(dag.size());
    for (int p = 0; p < dag.size(); ++p) position[order[p]] = p;
    before_.resize(dag.size() + 1);
    crossing_.assign(dag.size() + 1, 0);
    for (int p = 0; p < dag.size(); ++p) {
      const int node = order[p];
      before_[p + 1] = before_[p];
      before_[p + 1] += costs_.of(node);
      int last = p;
      for (const int consumer : dag.consumers[node]) last = std::max(last, position[consumer]);
      for (int cut = p + 1; cut <= last; ++cut) crossing_[cut] += costs_.of(node).activations;
    }
  }

  // Returns the score of a stage; one that begins at 0 is the first.
  double Score(const PieceStage& stage) const {
    StageSizes sizes = before_[stage.end];
    sizes -= before_[stage.begin];
    const int64_t out = stage.begin > 0 ? crossing_[stage.end] : 0;
    return StageCosts::Score(costs_.Seconds(sizes, stage.on, crossing_[stage.begin], out),
                             costs_.Excess(sizes, stage.on, stage.devices_behind));
  }

 private:
  const StageCosts costs_;
  std::vector<StageSizes> before_;  // by position
  std::vector<int64_t> crossing_;   // bytes, by position
};

}  // namespace

PieceScore ScorePieces(const StageProblem& problem, const std::vector<int>& order) {
  return [costs = OrderedCosts(problem, order)](const PieceStage& stage) {
    return costs.Score(stage);
  };
}

PieceTimes::PieceTimes(int length, std::vector<StageReplicas> choices, PieceScore score)
    : choices_(std::move(choices)),
      pieces_{length},
      score_(std::move(score)),
      scores_(choices_.size(), pieces_.count()) {
  for (int begin = 0; begin < length; ++begin) {
    for (int end = begin + 1; end <= length; ++end) {
      const int piece = pieces_.index(begin, end);
      for (size_t choice = 0; choice < choices_.size(); ++choice) {
        scores_(choice, piece) = score_({begin, end, choices_[choice]});
      }
    }
  }
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
        const double slowest =
            std::max(rest, score_({begin, end, replicas[stage], stages - stage - 1, behind}));
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
