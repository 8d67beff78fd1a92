#include "search/plans/submeshes.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace stagecraft {
namespace {

// Devices taken of every pool, in its smallest submeshes, as one number.
class Submeshes {
 public:
  Submeshes(const SearchProblem& problem, const StageTable& table) {
    const std::vector<Pool> pools = DraftPools(problem.cluster);
    units_.assign(pools.size(), 0);
    for (size_t c = 0; c < table.choices().size(); ++c) {
      int& unit = units_[table.choices()[c].pool];
      unit = std::gcd(unit, table.devices(static_cast<int>(c)));
    }
    int64_t states = 1;
    for (size_t pool = 0; pool < pools.size(); ++pool) {
      const int count = units_[pool] == 0 ? 0 : pools[pool].devices / units_[pool];
      counts_.push_back(count);
      strides_.push_back(states);
      states *= count + 1;
    }
    states_ = states;
  }

  int64_t states() const { return states_; }
  int64_t all() const { return states_ - 1; }
  // With so many devices of a pool more; below 0 where there are too few.
  int64_t Take(int64_t state, int pool, int devices) const {
    const int64_t taken = state / strides_[pool] % (counts_[pool] + 1);
    const int more = devices / units_[pool];
    return taken + more > counts_[pool] ? -1 : state + more * strides_[pool];
  }

 private:
  std::vector<int> units_, counts_;
  std::vector<int64_t> strides_;
  int64_t states_ = 1;
};

// The stages from some one on to the last.
struct Tail {
  int blocks = -1;  // -1: not possible
  Duration sum;
  int64_t from = 0;  // state of the stages behind the first of these
  int choice = 0;
  int count = 0;  // blocks of its first stage
  bool BetterThan(const Tail& other) const {
    return blocks != other.blocks ? blocks > other.blocks : sum < other.sum;
  }
};

class Programme {
 public:
  Programme(const SearchProblem& problem, const StageTable& table)
      : table_(table),
        submeshes_(problem, table),
        stages_(static_cast<int>(table.shape().stages.size())),
        fills_(problem.cluster.homogeneous() && !problem.choices.fewer_devices),
        tails_(stages_ + 1, std::vector<Tail>(submeshes_.states())) {}

  std::vector<SubmeshDraft> Run() {
    std::vector<SubmeshDraft> found;
    if (table_.choices().empty() || !Fill(Duration::Max())) return found;
    Duration low, high = SlowestOf(BestDraft(Duration::Max()).draft);
    while ((high - low).ns() > high.ns() / 10'000) {
      const Duration middle = Duration::Nanoseconds((low.ns() + high.ns()) / 2);
      (Fill(middle) ? high : low) = middle;
    }
    constexpr double kStep = 1.03;
    constexpr int kLimits = 9;
    Duration limit = high, best = Duration::Max();
    for (int i = 0; i < kLimits; ++i) {
      if ((table_.micro_batches() - 1) * limit >= best) break;
      Fill(limit);
      SubmeshDraft draft = BestDraft(limit);
      best = std::min(best, draft.step);
      const bool is_new = std::none_of(found.begin(), found.end(), [&](const SubmeshDraft& other) {
        return other.draft == draft.draft;
      });
      if (is_new) found.push_back(std::move(draft));
      limit = Duration::Seconds(limit.seconds() * kStep);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const SubmeshDraft& a, const SubmeshDraft& b) { return a.step < b.step; });
    return found;
  }

 private:
  // Whether all blocks find a place within the limit.
  bool Fill(Duration limit) {
    for (std::vector<Tail>& tails : tails_) std::fill(tails.begin(), tails.end(), Tail());
    tails_[0][0].blocks = 0;
    for (int behind = 0; behind < stages_; ++behind) {
      for (int64_t state = 0; state < submeshes_.states(); ++state) {
        if (tails_[behind][state].blocks >= 0) Extend(behind, state, limit);
      }
    }
    return std::any_of(tails_[stages_].begin(), tails_[stages_].end(),
                       [&](const Tail& tail) { return IsWhole(tail); });
  }

  bool IsWhole(const Tail& tail) const {
    const bool is_all = &tail == &tails_[stages_][submeshes_.all()];
    return tail.blocks == table_.blocks() && (!fills_ || is_all);
  }

  // Another stage in front of `behind` others.
  void Extend(int behind, int64_t state, Duration limit) {
    const Tail& tail = tails_[behind][state];
    const int left = table_.blocks() - tail.blocks;
    const bool is_first = behind + 1 == stages_;
    // Stages before this one keep a block each, but for the first, which has the embedding.
    const int most = left - std::max(0, stages_ - behind - 2);
    const int least = behind == 0 || is_first ? 0 : 1;
    if (most < least) return;
    const double in_flight =
        InFlight(table_.shape(), stages_, stages_ - behind - 1, table_.micro_batches());
    for (int choice = 0; choice < static_cast<int>(table_.choices().size()); ++choice) {
      const int64_t next =
          submeshes_.Take(state, table_.choices()[choice].pool, table_.devices(choice));
      if (next < 0) continue;
      int low = least - 1, high = is_first ? left : most;
      const int wanted = high;
      while (low < high) {
        const int count = (low + high + 1) / 2;
        const bool fits =
            table_.Time(choice, left - count, count) <= limit &&
            table_.MemoryShare(choice, left - count, count, in_flight) <= kUsableMemory;
        if (fits) {
          low = count;
        } else {
          high = count - 1;
        }
      }
      if (low < least || (is_first && low != wanted)) continue;
      const Tail longer{tail.blocks + low, tail.sum + table_.Time(choice, left - low, low), state,
                        choice, low};
      Tail& known = tails_[behind + 1][next];
      if (longer.BetterThan(known)) known = longer;
    }
  }

  // Of those that the last Fill() found.
  SubmeshDraft BestDraft(Duration limit) const {
    SubmeshDraft best{{}, Duration::Max()};
    for (const Tail& tail : tails_[stages_]) {
      if (!IsWhole(tail)) continue;
      PlanDraft draft = DraftOf(tail);
      const Duration slowest = std::min(limit, SlowestOf(draft));
      const Duration fill = Duration::Nanoseconds(tail.sum.ns() / table_.shape().chunks);
      const Duration step = (table_.micro_batches() - 1) * slowest + fill;
      if (step < best.step) best = {std::move(draft), step};
    }
    return best;
  }

  PlanDraft DraftOf(const Tail& first) const {
    PlanDraft draft = table_.shape();
    const Tail* tail = &first;
    for (int behind = stages_ - 1; behind >= 0; --behind) {
      draft.stages[stages_ - 1 - behind] = table_.Stage(tail->choice, tail->count);
      tail = &tails_[behind][tail->from];
    }
    return draft;
  }

  Duration SlowestOf(const PlanDraft& draft) const {
    Duration slowest;
    int first = 0;
    for (const DraftStage& stage : draft.stages) {
      slowest = std::max(slowest, table_.Time(*table_.Find(stage), first, stage.blocks));
      first += stage.blocks;
    }
    return slowest;
  }

  const StageTable& table_;
  const Submeshes submeshes_;
  const int stages_;
  const bool fills_;                      // no device may be left over
  std::vector<std::vector<Tail>> tails_;  // by number of stages, and by state
};

}  // namespace

std::vector<SubmeshDraft> SolveSubmeshes(const SearchProblem& problem, const StageTable& table) {
  return Programme(problem, table).Run();
}

void SearchPlansBySubmeshes(const SearchProblem& problem, const std::vector<PlanStart>& shapes,
                            PlanTrials& trials) {
  constexpr size_t kWave = 8;
  for (size_t begin = 0; begin < shapes.size() && !trials.IsSpent(); begin += kWave) {
    const size_t end = std::min(begin + kWave, shapes.size());
    std::vector<std::vector<SubmeshDraft>> solved(end - begin);
    tbb::parallel_for(begin, end, [&](size_t i) {
      solved[i - begin] = SolveSubmeshes(problem, StageTable(problem, shapes[i].draft));
    });
    std::vector<PlanDraft> drafts;
    for (const std::vector<SubmeshDraft>& found : solved) {
      for (const SubmeshDraft& one : found) {
        if (one.step.seconds() < trials.best_score() || problem.objective != Objective::kStepTime) {
          drafts.push_back(one.draft);
        }
      }
    }
    trials.Score(drafts);
  }
}

}  // namespace stagecraft
