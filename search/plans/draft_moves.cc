#include "search/plans/draft_moves.h"

#include <algorithm>
#include <set>
#include <utility>

#include "search/space.h"

namespace stagecraft {
namespace {

// Some pool has several stages, of which one has several replicas: else every order of ranks
// puts them on the same devices.
bool HasRankOrders(const PlanDraft& draft) {
  for (size_t pool = 0; pool < draft.stages[0].replicas.size(); ++pool) {
    int stages = 0, most = 0;
    for (const DraftStage& stage : draft.stages) {
      stages += stage.replicas[pool] > 0 ? 1 : 0;
      most = std::max(most, stage.replicas[pool]);
    }
    if (stages > 1 && most > 1) return true;
  }
  return false;
}

}  // namespace

DraftMoves::DraftMoves(const SearchProblem& problem)
    : problem_(problem),
      maker_(problem),
      kinds_{
          &DraftMoves::ShiftBlocks,    &DraftMoves::ChangeRecompute, &DraftMoves::ChangeMicroBatch,
          &DraftMoves::ChangeSharding, &DraftMoves::ChangeOrder,     &DraftMoves::ChangeLayout,
          &DraftMoves::TradeDegrees,   &DraftMoves::ChangeStages,    &DraftMoves::SwapStages},
      recomputes_(RecomputesToTry(problem)),
      orders_(OrdersToTry(problem)),
      rank_orders_(RankOrdersToTry(problem)),
      pools_(DraftPools(problem.cluster)) {
  if (pools_.size() > 1) {
    kinds_.push_back(&DraftMoves::ChangeReplicas);
    kinds_.push_back(&DraftMoves::MoveReplicas);
  }
}

void DraftMoves::ShiftBlocks(const PlanDraft& draft, Drafts& found) const {
  constexpr size_t kFew = 16;  // stages; of more, only neighbours and ends exchange blocks
  const size_t stages = draft.stages.size();
  const auto is_end = [&](size_t s) { return s == 0 || s + 1 == stages; };
  for (size_t from = 0; from < stages; ++from) {
    if (draft.stages[from].blocks == 0) continue;
    for (size_t to = 0; to < stages; ++to) {
      const bool is_near = to + 1 == from || from + 1 == to;
      if (to == from || (stages > kFew && !is_near && !is_end(from) && !is_end(to))) continue;
      PlanDraft moved = draft;
      --moved.stages[from].blocks;
      ++moved.stages[to].blocks;
      found.push_back(std::move(moved));
    }
  }
}

void DraftMoves::ChangeRecompute(const PlanDraft& draft, Drafts& found) const {
  for (const Recompute recompute : recomputes_) {
    PlanDraft all = draft;
    for (DraftStage& stage : all.stages) stage.recompute = recompute;
    if (all != draft) found.push_back(std::move(all));
    for (size_t s = 0; s < draft.stages.size() && draft.stages.size() > 1; ++s) {
      if (draft.stages[s].recompute == recompute) continue;
      PlanDraft one = draft;
      one.stages[s].recompute = recompute;
      found.push_back(std::move(one));
    }
  }
}

void DraftMoves::ChangeMicroBatch(const PlanDraft& draft, Drafts& found) const {
  const int64_t own = problem_.given.global_batch / draft.replica_count();
  for (int64_t size = 1; size <= std::min(own, kMostMicroBatch); ++size) {
    if (own % size != 0 || size == draft.micro_batch) continue;
    PlanDraft changed = draft;
    changed.micro_batch = size;
    found.push_back(std::move(changed));
  }
}

void DraftMoves::ChangeSharding(const PlanDraft& draft, Drafts& found) const {
  for (int zero = 0; zero <= 3 && draft.replica_count() * draft.context > 1; ++zero) {
    if (zero == draft.zero) continue;
    PlanDraft changed = draft;
    changed.zero = zero;
    found.push_back(std::move(changed));
  }
}

void DraftMoves::ChangeOrder(const PlanDraft& draft, Drafts& found) const {
  for (const PipelineOrder order : orders_) {
    for (int chunks = 1; chunks <= kMostChunks; ++chunks) {
      PlanDraft changed = draft;
      changed.order = order;
      changed.chunks = chunks;
      if (changed != draft) found.push_back(std::move(changed));
    }
  }
}

void DraftMoves::ChangeLayout(const PlanDraft& draft, Drafts& found) const {
  const bool divides = std::any_of(draft.stages.begin(), draft.stages.end(),
                                   [](const DraftStage& stage) { return stage.tensor > 1; });
  if (divides) {
    PlanDraft other = draft;
    other.sequence_parallel = !draft.sequence_parallel;
    found.push_back(std::move(other));
  }
  for (const std::string& rank_order : rank_orders_) {
    if (rank_order == draft.rank_order || !HasRankOrders(draft)) continue;
    PlanDraft other = draft;
    other.rank_order = rank_order;
    found.push_back(std::move(other));
  }
}

std::vector<PlanDraft> DraftMoves::All(const PlanDraft& draft) const {
  Drafts found;
  for (const auto kind : kinds_) (this->*kind)(draft, found);
  std::set<PlanDraft> seen{draft};
  std::erase_if(found, [&](const PlanDraft& moved) { return !seen.insert(moved).second; });
  return found;
}

std::vector<PlanDraft> DraftMoves::OfShape(const PlanDraft& draft) const {
  const auto once = [&](const PlanDraft& from, Drafts& found) {
    ChangeMicroBatch(from, found);
    ChangeSharding(from, found);
    ChangeOrder(from, found);
  };
  Drafts found;
  once(draft, found);
  for (size_t i = 0, first = found.size(); i < first; ++i) {
    const PlanDraft one = found[i];
    once(one, found);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::erase(found, draft);
  return found;
}

std::optional<PlanDraft> DraftMoves::Draw(const PlanDraft& draft, Random& random) const {
  constexpr int kTries = 300;
  for (int i = 0; i < kTries; ++i) {
    const auto kind = random.Integer(0, static_cast<int64_t>(kinds_.size()) - 1);
    Drafts found;
    (this->*kinds_[kind])(draft, found);
    if (found.empty()) continue;
    PlanDraft drawn = found[random.Integer(0, static_cast<int64_t>(found.size()) - 1)];
    if (drawn != draft && maker_.IsPlan(drawn)) return drawn;
  }
  return std::nullopt;
}

}  // namespace stagecraft
