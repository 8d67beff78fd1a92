#include "search/plans/draft_moves.h"

#include <algorithm>
#include <set>
#include <utility>

#include "search/space.h"

namespace stagecraft {

DraftMoves::DraftMoves(const SearchProblem& problem)
    : problem_(problem),
      maker_(problem),
      kinds_{
          &DraftMoves::ShiftBlocks,    &DraftMoves::ChangeRecompute, &DraftMoves::ChangeMicroBatch,
          &DraftMoves::ChangeSharding, &DraftMoves::ChangeOrder,     &DraftMoves::ChangeLayout,
          &DraftMoves::TradeDegrees,   &DraftMoves::ChangeStages,    &DraftMoves::SwapStages},
      recomputes_(RecomputesToTry(problem)),
      schedules_(SchedulesToTry(problem)),
      rank_orders_(RankOrdersToTry(problem)),
      pools_(DraftPools(problem.cluster)) {
  if (pools_.size() > 1) {
    kinds_.push_back(&DraftMoves::ChangeReplicas);
    kinds_.push_back(&DraftMoves::MoveReplicas);
  }
}

void DraftMoves::ShiftBlocks(const PlanDraft& draft, Drafts& found) const {
  constexpr size_t kFew = 16;  // with more stages, only neighbours and ends exchange layers
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
  for (int64_t size = 1; size <= std::min(own, MostMicroBatch(problem_)); ++size) {
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
  for (const PipelineSchedule schedule : schedules_) {
    for (int chunks = 1; chunks <= kMostChunks; ++chunks) {
      PlanDraft changed = draft;
      changed.schedule = schedule;
      changed.chunks = chunks;
      if (changed != draft) found.push_back(std::move(changed));
    }
  }
}

void DraftMoves::ChangeLayout(const PlanDraft& draft, Drafts& found) const {
  if (draft.divides_tensors()) {
    PlanDraft other = draft;
    other.sequence_parallel = !draft.sequence_parallel;
    found.push_back(std::move(other));
  }
  const bool has_orders = HasRankOrders(draft, problem_.cluster);
  for (const std::string& rank_order : rank_orders_) {
    if (rank_order == draft.rank_order || !has_orders) continue;
    PlanDraft other = draft;
    other.rank_order = rank_order;
    found.push_back(std::move(other));
  }
}

std::vector<PlanDraft> DraftMoves::Find(std::span<const Kind> kinds, const PlanDraft& draft) const {
  Drafts found;
  for (const Kind kind : kinds) (this->*kind)(draft, found);
  for (PlanDraft& moved : found) moved = Settled(std::move(moved), problem_);
  std::set<PlanDraft> seen{Settled(draft, problem_)};
  std::erase_if(found, [&](const PlanDraft& moved) { return !seen.insert(moved).second; });
  return found;
}

std::vector<PlanDraft> DraftMoves::All(const PlanDraft& draft) const { return Find(kinds_, draft); }

std::vector<PlanDraft> DraftMoves::OfShape(const PlanDraft& draft) const {
  constexpr Kind kOfShape[] = {&DraftMoves::ChangeMicroBatch, &DraftMoves::ChangeSharding,
                               &DraftMoves::ChangeOrder};
  const Drafts once = Find(kOfShape, draft);
  std::set<PlanDraft> found(once.begin(), once.end());
  for (const PlanDraft& one : once) {
    for (PlanDraft& moved : Find(kOfShape, one)) found.insert(std::move(moved));
  }
  found.erase(Settled(draft, problem_));
  return {found.begin(), found.end()};
}

std::optional<PlanDraft> DraftMoves::Draw(const PlanDraft& draft, Random& random) const {
  constexpr int kTries = 300;
  for (int i = 0; i < kTries; ++i) {
    const auto kind = random.Integer(0, static_cast<int64_t>(kinds_.size()) - 1);
    Drafts found = Find({&kinds_[kind], 1}, draft);
    if (found.empty()) continue;
    PlanDraft& drawn = found[random.Integer(0, static_cast<int64_t>(found.size()) - 1)];
    if (maker_.IsPlan(drawn)) return std::move(drawn);
  }
  return std::nullopt;
}

}  // namespace stagecraft
