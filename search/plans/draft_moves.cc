#include "search/plans/draft_moves.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr int64_t kMostMicroBatch = 16;
constexpr int kMostChunks = 16;

int BlocksOf(const PlanDraft& draft) {
  int blocks = 0;
  for (const DraftStage& stage : draft.stages) blocks += stage.blocks;
  return blocks;
}

// Two neighbours of equal devices become one, all along the pipeline; false where they
// are not so.
bool PairStages(int factor, PlanDraft& draft) {
  if (draft.stages.size() % factor != 0) return false;
  std::vector<DraftStage> joined;
  for (size_t s = 0; s < draft.stages.size(); s += factor) {
    DraftStage one = draft.stages[s];
    for (int i = 1; i < factor; ++i) {
      const DraftStage& other = draft.stages[s + i];
      if (other.pool != one.pool || other.tensor != one.tensor) return false;
      one.blocks += other.blocks;
    }
    joined.push_back(one);
  }
  draft.stages = std::move(joined);
  return true;
}

// Each stage becomes `factor` of equal devices.
bool PartStages(int factor, PlanDraft& draft) {
  std::vector<DraftStage> parted;
  for (const DraftStage& stage : draft.stages) {
    for (int i = 0; i < factor; ++i) {
      DraftStage part = stage;
      part.blocks = stage.blocks / factor + (i < stage.blocks % factor ? 1 : 0);
      parted.push_back(part);
    }
  }
  draft.stages = std::move(parted);
  return true;
}

bool Multiply(int factor, int& degree) {
  degree *= factor;
  return true;
}

bool Divide(int factor, int& degree) {
  if (degree % factor != 0) return false;
  degree /= factor;
  return true;
}

bool ScaleTensor(int factor, bool is_up, PlanDraft& draft) {
  return std::all_of(draft.stages.begin(), draft.stages.end(), [&](DraftStage& stage) {
    return is_up ? Multiply(factor, stage.tensor) : Divide(factor, stage.tensor);
  });
}

// Degrees that factors go from and to.
enum class Degree { kTensor, kContext, kData, kPipeline };
constexpr Degree kDegrees[] = {Degree::kTensor, Degree::kContext, Degree::kData, Degree::kPipeline};

bool Scale(Degree degree, int factor, bool is_up, PlanDraft& draft) {
  switch (degree) {
    case Degree::kTensor:
      return ScaleTensor(factor, is_up, draft);
    case Degree::kContext:
      return is_up ? Multiply(factor, draft.context) : Divide(factor, draft.context);
    case Degree::kData:
      return is_up ? Multiply(factor, draft.data) : Divide(factor, draft.data);
    case Degree::kPipeline:
      break;
  }
  return is_up ? PartStages(factor, draft) : PairStages(factor, draft);
}

}  // namespace

void SpreadBlocks(int blocks, PlanDraft& draft) {
  const int devices = std::max(1, draft.devices());
  int left = blocks;
  for (DraftStage& stage : draft.stages) {
    stage.blocks =
        static_cast<int>(static_cast<int64_t>(blocks) * draft.stage_devices(stage) / devices);
    left -= stage.blocks;
  }
  for (size_t s = 0; left > 0; s = (s + 1) % draft.stages.size(), --left) ++draft.stages[s].blocks;
}

DraftMoves::DraftMoves(const SearchProblem& problem)
    : problem_(problem),
      kinds_{&DraftMoves::ShiftBlocks,      &DraftMoves::ChangeRecompute,
             &DraftMoves::ChangeMicroBatch, &DraftMoves::ChangeSharding,
             &DraftMoves::ChangeOrder,      &DraftMoves::TradeDegrees,
             &DraftMoves::ChangeStages,     &DraftMoves::SwapStages},
      recomputes_(problem.choices.recomputes),
      orders_(problem.choices.orders),
      pools_(DraftPools(problem.cluster)) {
  if (recomputes_.empty()) {
    recomputes_ = {Recompute::kNone, Recompute::kFull};
    if (problem.workload.attention == AttentionBackend::kUnfused) {
      recomputes_.push_back(Recompute::kSelective);
    }
  }
  if (orders_.empty()) {
    orders_ = {PipelineOrder::kOneForwardOneBackward, PipelineOrder::kInterleaved};
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
  const int64_t own = problem_.given.global_batch / draft.data;
  for (int64_t size = 1; size <= std::min(own, kMostMicroBatch); ++size) {
    if (own % size != 0 || size == draft.micro_batch) continue;
    PlanDraft changed = draft;
    changed.micro_batch = size;
    found.push_back(std::move(changed));
  }
}

void DraftMoves::ChangeSharding(const PlanDraft& draft, Drafts& found) const {
  for (int zero = 0; zero <= 3 && draft.data * draft.context > 1; ++zero) {
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

void DraftMoves::TradeDegrees(const PlanDraft& draft, Drafts& found) const {
  for (const int factor : {2, 3}) {
    for (const Degree from : kDegrees) {
      for (const Degree to : kDegrees) {
        PlanDraft traded = draft;
        if (from == to || !Scale(from, factor, false, traded)) continue;
        Scale(to, factor, true, traded);
        // A replica's samples stay a whole number of micro-batches.
        const int64_t own = problem_.given.global_batch / traded.data;
        traded.micro_batch = std::gcd(own, traded.micro_batch);
        if (traded.data * traded.context == 1) traded.zero = 0;
        found.push_back(std::move(traded));
      }
    }
  }
}

void DraftMoves::ChangeStages(const PlanDraft& draft, Drafts& found) const {
  const int blocks = BlocksOf(draft);
  const auto add = [&](PlanDraft changed, bool spreads) {
    if (spreads) SpreadBlocks(blocks, changed);
    found.push_back(std::move(changed));
  };
  for (size_t s = 0; s < draft.stages.size(); ++s) {
    for (const bool spreads : {false, true}) {
      PlanDraft wider = draft;
      wider.stages[s].tensor *= 2;
      add(wider, spreads);
      if (draft.stages[s].tensor % 2 == 0) {
        PlanDraft narrower = draft;
        narrower.stages[s].tensor /= 2;
        add(narrower, spreads);
      }
    }
    if (draft.stages[s].tensor % 2 == 0) {
      PlanDraft parted = draft;
      DraftStage& front = parted.stages[s];
      front.tensor /= 2;
      DraftStage back = front;
      back.blocks = front.blocks / 2;
      front.blocks -= back.blocks;
      parted.stages.insert(parted.stages.begin() + static_cast<ptrdiff_t>(s) + 1, back);
      add(std::move(parted), false);
    }
    if (s + 1 < draft.stages.size()) {
      PlanDraft joined = draft;
      const DraftStage& back = draft.stages[s + 1];
      joined.stages[s].blocks += back.blocks;
      if (back.pool == draft.stages[s].pool) joined.stages[s].tensor += back.tensor;
      joined.stages.erase(joined.stages.begin() + static_cast<ptrdiff_t>(s) + 1);
      add(joined, false);
      add(std::move(joined), true);
    }
    for (int pool = 0; pool < static_cast<int>(pools_.size()); ++pool) {
      PlanDraft longer = draft;
      longer.stages.insert(longer.stages.begin() + static_cast<ptrdiff_t>(s), draft.stages[s]);
      longer.stages[s].pool = pool;
      add(std::move(longer), true);
      if (pool == draft.stages[s].pool) continue;
      PlanDraft elsewhere = draft;
      elsewhere.stages[s].pool = pool;
      add(std::move(elsewhere), false);
    }
  }
}

void DraftMoves::SwapStages(const PlanDraft& draft, Drafts& found) const {
  for (size_t s = 0; s + 1 < draft.stages.size(); ++s) {
    PlanDraft swapped = draft;
    std::swap(swapped.stages[s], swapped.stages[s + 1]);
    if (swapped != draft) found.push_back(std::move(swapped));
  }
}

std::vector<PlanDraft> DraftMoves::All(const PlanDraft& draft) const {
  Drafts found;
  for (const auto kind : kinds_) (this->*kind)(draft, found);
  Drafts plans;
  for (PlanDraft& moved : found) {
    const bool is_known =
        moved == draft || std::find(plans.begin(), plans.end(), moved) != plans.end();
    if (!is_known) plans.push_back(std::move(moved));
  }
  return plans;
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
    if (drawn == draft) continue;
    try {
      MakePlan(drawn, problem_);
      return drawn;
    } catch (const InputError&) {
      continue;
    }
  }
  return std::nullopt;
}

}  // namespace stagecraft
