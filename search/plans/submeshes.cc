#include "search/plans/submeshes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "costmodel/hash.h"
#include "search/divided_work.h"
#include "search/packing.h"
#include "search/plans/beam.h"
#include "search/plans/packed_draft.h"
#include "search/plans/work_bound.h"

namespace stagecraft {
namespace {

// Submeshes encodes how many devices are taken of each pool, in its smallest submeshes, as one
// number: the state.
class Submeshes {
 public:
  // Makes submeshes larger if the dynamic programme would take too long; some choices are then left
  // out.
  Submeshes(const SearchProblem& problem, const StageTable& table) {
    constexpr int64_t kMostWork = 300'000;
    const std::vector<Pool> pools = DraftPools(problem.cluster);
    units_.assign(pools.size(), 0);
    for (size_t c = 0; c < table.choices().size(); ++c) {
      int& unit = units_[table.choices()[c].pool];
      unit = std::gcd(unit, table.devices(static_cast<int>(c)));
    }
    const auto work = static_cast<int64_t>(table.choices().size() * table.shape().stages.size());
    Count(pools);
    while (states_ > 2 && work * states_ > kMostWork) {
      *std::max_element(units_.begin(), units_.end(), [&](int& a, int& b) {
        return counts_[&a - units_.data()] < counts_[&b - units_.data()];
      }) *= 2;
      Count(pools);
    }
    for (int64_t state = 0; state < states_; ++state) {
      for (size_t pool = 0; pool < pools.size(); ++pool) {
        taken_.push_back(static_cast<int>(state / strides_[pool] % (counts_[pool] + 1)));
      }
    }
  }

  int64_t states() const { return states_; }
  int64_t all() const { return states_ - 1; }
  // Returns the state after taking `devices` more of a pool; -1 if there are too few, or if they
  // are not a whole number of submeshes.
  int64_t Take(int64_t state, int pool, int devices) const {
    if (devices % units_[pool] != 0) return -1;
    const int more = devices / units_[pool];
    const int taken = taken_[state * counts_.size() + pool];
    return taken + more > counts_[pool] ? -1 : state + more * strides_[pool];
  }

 private:
  void Count(const std::vector<Pool>& pools) {
    counts_.clear();
    strides_.clear();
    states_ = 1;
    for (size_t pool = 0; pool < pools.size(); ++pool) {
      const int count = units_[pool] == 0 ? 0 : pools[pool].devices / units_[pool];
      counts_.push_back(count);
      strides_.push_back(states_);
      states_ *= count + 1;
    }
  }

  std::vector<int> units_, counts_;
  std::vector<int64_t> strides_;
  int64_t states_ = 1;
  std::vector<int> taken_;  // submeshes by state, then pool
};

// Tail is the stages from some stage on to the last.
struct Tail {
  int blocks = -1;  // -1: not possible
  Duration sum;
  int64_t from = 0;  // the state of the stages behind its first one
  int choice = 0;
  int count = 0;  // blocks of its first stage
  bool BetterThan(const Tail& other) const {
    return blocks != other.blocks ? blocks > other.blocks : sum < other.sum;
  }
};

// Filling is how many of the remaining layers a stage holds, and on which choice.
struct Filling {
  int choice = 0;
  int count = 0;
  Duration time;
};

// Group is the choices that take equally many devices of the same pool.
struct Group {
  int pool = 0;
  int devices = 0;
  std::vector<int> choices;
  std::vector<std::optional<Filling>> fillings;  // by blocks left; computed as needed
};

class Programme {
 public:
  Programme(const SearchProblem& problem, const StageTable& table)
      : table_(table),
        submeshes_(problem, table),
        stages_(static_cast<int>(table.shape().stages.size())),
        fills_(problem.cluster.homogeneous() &&
               problem.choices.device_counts == DeviceCounts::kAll),
        tails_(stages_ + 1, std::vector<Tail>(submeshes_.states())),
        in_time_(table.choices().size()),
        in_memory_(stages_ * table.choices().size()) {
    for (int c = 0; c < static_cast<int>(table.choices().size()); ++c) {
      const int pool = table.choices()[c].pool, devices = table.devices(c);
      const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& known) {
        return known.pool == pool && known.devices == devices;
      });
      if (group == groups_.end()) {
        groups_.push_back({pool, devices, {c}, {}});
      } else {
        group->choices.push_back(c);
      }
    }
  }

  std::vector<SubmeshDraft> Run(Duration most) {
    std::vector<SubmeshDraft> found;
    if (table_.choices().empty() || !Fill(most)) return found;
    // The least limit is often near the greatest: steps down from there double.
    Duration low, high = SlowestOf(BestDraft(most).draft);
    for (int64_t step = std::max<int64_t>(1, high.ns() / 16); step < high.ns(); step *= 2) {
      low = high - Duration::Nanoseconds(step);
      if (!Fill(low)) break;
      high = std::exchange(low, Duration());
    }
    // Times are whole nanoseconds: closer than one they cannot come.
    while ((high - low).ns() > std::max<int64_t>(1, high.ns() / 10'000)) {
      const Duration middle = low + Duration::Nanoseconds((high - low).ns() / 2);
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
  // Computes all tails within the limit. Returns whether all layers find a place.
  bool Fill(Duration limit) {
    for (std::vector<Tail>& tails : tails_) std::fill(tails.begin(), tails.end(), Tail());
    tails_[0][0].blocks = 0;
    for (size_t c = 0; c < in_time_.size(); ++c) {
      in_time_[c] = table_.FirstInTime(static_cast<int>(c), limit);
    }
    for (int behind = 0; behind < stages_; ++behind) {
      for (Group& group : groups_) group.fillings.assign(table_.blocks() + 1, std::nullopt);
      for (int64_t state = 0; state < submeshes_.states(); ++state) {
        if (tails_[behind][state].blocks >= 0) Extend(behind, state);
      }
    }
    return std::any_of(tails_[stages_].begin(), tails_[stages_].end(),
                       [&](const Tail& tail) { return IsWhole(tail); });
  }

  bool IsWhole(const Tail& tail) const {
    const bool is_all = &tail == &tails_[stages_][submeshes_.all()];
    return tail.blocks == table_.blocks() && (!fills_ || is_all);
  }

  // Adds a stage in front of `behind` others.
  void Extend(int behind, int64_t state) {
    const Tail& tail = tails_[behind][state];
    const int left = table_.blocks() - tail.blocks;
    const bool is_first = behind + 1 == stages_;
    if (MostOf(behind, left) < LeastOf(behind)) return;
    for (Group& group : groups_) {
      const int64_t next = submeshes_.Take(state, group.pool, group.devices);
      if (next < 0) continue;
      std::optional<Filling>& filling = group.fillings[left];
      if (!filling) filling = FillGroup(group, behind, left);
      if (filling->count < LeastOf(behind) || (is_first && filling->count != left)) continue;
      const Tail longer{tail.blocks + filling->count, tail.sum + filling->time, state,
                        filling->choice, filling->count};
      Tail& known = tails_[behind + 1][next];
      if (longer.BetterThan(known)) known = longer;
    }
  }

  // Return how many blocks a stage in front of `behind` others must get at least, and how many of
  // those that are left it may get. Every stage between the first and the last gets one; those at
  // the ends have the embedding and the head.
  int LeastOf(int behind) const { return behind == 0 || behind + 1 == stages_ ? 0 : 1; }
  int MostOf(int behind, int left) const {
    return behind + 1 == stages_ ? left : left - std::max(0, stages_ - behind - 2);
  }

  // Returns the choice of a group with which a stage in front of `behind` others can hold the most
  // of the blocks that are left; its count is less than LeastOf() if none can hold enough.
  Filling FillGroup(const Group& group, int behind, int left) {
    const int least = LeastOf(behind);
    Filling best{group.choices[0], least - 1, Duration::Max()};
    for (const int choice : group.choices) {
      const int first = std::max(in_time_[choice][left], InMemory(behind, choice)[left]);
      const int count = std::min(left - first, MostOf(behind, left));
      if (count < least) continue;
      const Duration time = table_.Time(choice, left - count, count);
      if (count > best.count || (count == best.count && time < best.time)) {
        best = {choice, count, time};
      }
    }
    return best;
  }

  // What fits into memory does not depend on the limit of time.
  const std::vector<int>& InMemory(int behind, int choice) {
    std::vector<int>& firsts = in_memory_[behind * in_time_.size() + choice];
    if (firsts.empty()) {
      firsts = table_.FirstInMemory(
          choice, InFlight(table_.shape(), stages_, stages_ - behind - 1, table_.micro_batches()));
    }
    return firsts;
  }

  // Returns the best draft that the last Fill() found.
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
  const bool fills_;  // whether all devices must be used
  std::vector<Group> groups_;
  std::vector<std::vector<Tail>> tails_;  // by number of stages and by state
  // By choice, and by number of later stages and choice: where the longest runs begin that are
  // within the limit of the last Fill() and within memory.
  std::vector<std::vector<int>> in_time_, in_memory_;
};

}  // namespace

template <typename Bytes, Is<SubmeshDraft> Value>
void PassAlong(Bytes& bytes, Value& value) {
  auto& [draft, step] = value;
  bytes(draft, step);
}

std::vector<SubmeshDraft> SolveSubmeshes(const SearchProblem& problem, const StageTable& table,
                                         Duration most) {
  return Programme(problem, table).Run(most);
}

void SearchPlansBySubmeshes(const SearchProblem& problem, const std::vector<PlanStart>& shapes,
                            const RankedPlan* known, PlanTrials& trials) {
  constexpr size_t kWave = 8;
  const double known_score =
      known != nullptr ? known->score : std::numeric_limits<double>::infinity();
  const auto best_score = [&] { return std::min(known_score, trials.best_score()); };
  const bool is_time = problem.objective == Objective::kStepTime;
  WorkBound bound(problem);
  StageMemo memo(problem);
  for (size_t next = 0; next < shapes.size() && !trials.IsSpent();) {
    std::vector<size_t> wave;
    for (; next < shapes.size() && wave.size() < kWave; ++next) {
      const double least = bound.LeastScore(CommonOf(shapes[next].draft, problem));
      if (least < best_score()) wave.push_back(next);
    }
    if (wave.empty()) break;
    // A stage computes its part of one micro-batch after another, so a step takes at least the
    // number of micro-batches times that.
    const bool is_bounded = is_time && std::isfinite(best_score());
    const Duration best = is_bounded ? Duration::Seconds(best_score()) : Duration::Max();
    const auto solve = [&](size_t i) {
      const StageTable table(problem, shapes[wave[i]].draft, memo);
      const Duration most =
          is_bounded ? Duration::Nanoseconds(best.ns() / table.micro_batches()) : best;
      return SolveSubmeshes(problem, table, most);
    };
    const auto solved = ComputeTogether<std::vector<SubmeshDraft>>(
        trials.watch(), wave.size(), solve,
        [&](size_t i, Hash& hash) { hash.Add(shapes[wave[i]].draft.Describe()); });
    std::vector<PlanDraft> drafts;
    for (const std::vector<SubmeshDraft>& found : solved) {
      for (const SubmeshDraft& one : found) {
        if (one.step.seconds() < trials.best_score() || !is_time) drafts.push_back(one.draft);
      }
    }
    trials.Score(drafts);
  }
  if (std::isfinite(trials.best_score()) && !trials.IsSpent()) {
    Descend(problem, trials.best(), trials);
  }
  // Neighbours of a plan may be better than those of one that is better itself.
  if (trials.best_score() > known_score && !trials.IsSpent()) {
    Descend(problem, DraftOf(known->plan, problem), trials);
  }
}

}  // namespace stagecraft
