#include "search/partition/chain_cuts.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 2;

class CutChooser {
 public:
  explicit CutChooser(const ChainProblem& problem)
      : problem_(problem),
        layers_(static_cast<int>(problem.layer_time.size())),
        sum_(1, 0),
        least_(problem.stages + 1, std::vector<int64_t>(layers_ + 1, kNever)) {
    for (const int64_t time : problem.layer_time) sum_.push_back(sum_.back() + time);
  }

  // Returns all times that a stage can take, each once, ascending.
  std::vector<int64_t> Limits() const {
    std::vector<int64_t> limits;
    for (int begin = 0; begin < layers_; ++begin) {
      for (int end = begin + 1; end <= layers_; ++end) limits.push_back(sum_[end] - sum_[begin]);
    }
    std::sort(limits.begin(), limits.end());
    limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
    return limits;
  }

  // Returns the least cost of the cuts with which no stage takes longer than `limit`. Fills
  // least_[s][l]: the least cost of the cuts behind layer l if s stages are to hold all layers from
  // l on.
  int64_t LeastCutCost(int64_t limit) {
    for (std::vector<int64_t>& row : least_) std::fill(row.begin(), row.end(), kNever);
    least_[0][layers_] = 0;
    for (int stages = 1; stages <= problem_.stages; ++stages) FillRow(stages, limit);
    return least_[problem_.stages][0];
  }

  // Returns the best cuts. To be called after LeastCutCost(limit), if there are cuts with that
  // limit.
  ChainCuts Cuts(int64_t limit) const {
    ChainCuts cuts;
    int begin = 0;
    for (int stages = problem_.stages; stages > 0; --stages) {
      int end = begin + 1;
      while (sum_[end] - sum_[begin] > limit ||
             least_[stages - 1][end] + CutCost(stages, end) != least_[stages][begin]) {
        ++end;
      }
      cuts.layers.push_back(end - begin);
      begin = end;
    }
    return cuts;
  }

 private:
  // Returns the cost of the cut before layer `end`, between a stage and the `stages` - 1 behind it.
  int64_t CutCost(int stages, int end) const {
    return stages == 1 || end == layers_ ? 0 : problem_.cut_time[end - 1][problem_.stages - stages];
  }

  void FillRow(int stages, int64_t limit) {
    std::deque<std::pair<int, int64_t>> window;  // ends in reach, costs ascending to the left
    int longest = layers_;
    for (int begin = layers_ - 1; begin >= 0; --begin) {
      const int end = begin + 1;
      const int64_t cost = std::min(kNever, least_[stages - 1][end] + CutCost(stages, end));
      while (!window.empty() && window.back().second >= cost) window.pop_back();
      window.emplace_back(end, cost);
      while (sum_[longest] - sum_[begin] > limit) --longest;
      while (!window.empty() && window.front().first > longest) window.pop_front();
      if (!window.empty()) least_[stages][begin] = window.front().second;
    }
  }

  const ChainProblem& problem_;
  const int layers_;
  std::vector<int64_t> sum_;                 // of the layers before each layer
  std::vector<std::vector<int64_t>> least_;  // by stages left, by first layer left
};

}  // namespace

std::optional<ChainCuts> SolveChainCuts(const ChainProblem& problem) {
  CHECK(problem.stages >= 1 && problem.micro_batches >= 1);
  if (problem.layer_time.size() < static_cast<size_t>(problem.stages)) return std::nullopt;
  CutChooser chooser(problem);
  const int64_t waits = problem.micro_batches - 1;
  const int64_t least_cuts = chooser.LeastCutCost(kNever);
  int64_t best = kNever;
  int64_t best_limit = 0;
  for (const int64_t limit : chooser.Limits()) {
    if (waits * limit + least_cuts >= best) break;
    const int64_t cuts = chooser.LeastCutCost(limit);
    if (cuts == kNever || waits * limit + cuts >= best) continue;
    best = waits * limit + cuts;
    best_limit = limit;
  }
  chooser.LeastCutCost(best_limit);
  ChainCuts found = chooser.Cuts(best_limit);
  found.cost = best;
  return found;
}

}  // namespace stagecraft
