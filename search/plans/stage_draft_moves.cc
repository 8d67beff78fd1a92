// Implements the moves of DraftMoves that change stages: their devices and replicas, their number,
// and their sequence.
#include <algorithm>
#include <numeric>
#include <utility>

#include "search/plans/draft_moves.h"

namespace stagecraft {
namespace {

// Merges every `factor` neighbouring stages into one. Returns false if their number is not a
// multiple, or if neighbours differ in their devices.
bool PairStages(int factor, PlanDraft& draft) {
  if (draft.stages.size() % factor != 0) return false;
  std::vector<DraftStage> joined;
  for (size_t s = 0; s < draft.stages.size(); s += factor) {
    DraftStage one = draft.stages[s];
    for (int i = 1; i < factor; ++i) {
      const DraftStage& other = draft.stages[s + i];
      if (other.replicas != one.replicas || other.tensor != one.tensor) return false;
      one.blocks += other.blocks;
    }
    joined.push_back(one);
  }
  draft.stages = std::move(joined);
  return true;
}

// Splits each stage into `factor` stages with the same devices as it has.
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

bool ScaleReplicas(int factor, bool is_up, DraftStage& stage) {
  return std::all_of(stage.replicas.begin(), stage.replicas.end(), [&](int& replicas) {
    return is_up ? Multiply(factor, replicas) : Divide(factor, replicas);
  });
}

bool ScaleTensor(int factor, bool is_up, PlanDraft& draft) {
  return std::all_of(draft.stages.begin(), draft.stages.end(), [&](DraftStage& stage) {
    return is_up ? Multiply(factor, stage.tensor) : Divide(factor, stage.tensor);
  });
}

// Moves all of a stage's replicas to that pool.
void PutIn(int pool, DraftStage& stage) {
  const int replicas = stage.replica_count();
  std::fill(stage.replicas.begin(), stage.replicas.end(), 0);
  stage.replicas[pool] = replicas;
}

// The degrees between which moves trade factors.
enum class Degree { kTensor, kContext, kData, kPipeline };
constexpr Degree kDegrees[] = {Degree::kTensor, Degree::kContext, Degree::kData, Degree::kPipeline};

bool Scale(Degree degree, int factor, bool is_up, PlanDraft& draft) {
  switch (degree) {
    case Degree::kTensor:
      return ScaleTensor(factor, is_up, draft);
    case Degree::kContext:
      return is_up ? Multiply(factor, draft.context) : Divide(factor, draft.context);
    case Degree::kData:
      return std::all_of(draft.stages.begin(), draft.stages.end(),
                         [&](DraftStage& stage) { return ScaleReplicas(factor, is_up, stage); });
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

void DraftMoves::TradeDegrees(const PlanDraft& draft, Drafts& found) const {
  for (const int factor : {2, 3}) {
    for (const Degree from : kDegrees) {
      for (const Degree to : kDegrees) {
        PlanDraft traded = draft;
        if (from == to || !Scale(from, factor, false, traded)) continue;
        Scale(to, factor, true, traded);
        // A replica's samples must remain a whole number of micro-batches.
        const int replicas = std::max(1, traded.replica_count());
        const int64_t own = problem_.given.global_batch / replicas;
        traded.micro_batch = std::gcd(own, traded.micro_batch);
        found.push_back(std::move(traded));
      }
    }
  }
}

void DraftMoves::ChangeStages(const PlanDraft& draft, Drafts& found) const {
  const int blocks = draft.blocks();
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
      if (back.replicas == draft.stages[s].replicas) joined.stages[s].tensor += back.tensor;
      joined.stages.erase(joined.stages.begin() + static_cast<ptrdiff_t>(s) + 1);
      add(joined, false);
      add(std::move(joined), true);
    }
    for (int pool = 0; pool < static_cast<int>(pools_.size()); ++pool) {
      PlanDraft longer = draft;
      longer.stages.insert(longer.stages.begin() + static_cast<ptrdiff_t>(s), draft.stages[s]);
      PutIn(pool, longer.stages[s]);
      add(std::move(longer), true);
      PlanDraft elsewhere = draft;
      PutIn(pool, elsewhere.stages[s]);
      if (elsewhere.stages[s] != draft.stages[s]) add(std::move(elsewhere), false);
    }
  }
}

void DraftMoves::ChangeReplicas(const PlanDraft& draft, Drafts& found) const {
  const int blocks = draft.blocks();
  for (size_t s = 0; s < draft.stages.size(); ++s) {
    for (const bool is_up : {false, true}) {
      PlanDraft scaled = draft;
      if (!ScaleReplicas(2, is_up, scaled.stages[s])) continue;
      PlanDraft traded = scaled;
      int& tensor = traded.stages[s].tensor;
      if (is_up ? Divide(2, tensor) : Multiply(2, tensor)) found.push_back(std::move(traded));
      PlanDraft spread = scaled;
      SpreadBlocks(blocks, spread);
      found.push_back(std::move(scaled));
      found.push_back(std::move(spread));
    }
    for (size_t pool = 0; pool < pools_.size(); ++pool) {
      for (const int more : {-1, 1}) {
        PlanDraft changed = draft;
        int& replicas = changed.stages[s].replicas[pool];
        replicas += more;
        if (replicas >= 0 && changed.stages[s].replica_count() > 0) {
          found.push_back(std::move(changed));
        }
      }
    }
  }
}

void DraftMoves::MoveReplicas(const PlanDraft& draft, Drafts& found) const {
  const auto count = static_cast<int>(pools_.size());
  for (size_t s = 0; s < draft.stages.size(); ++s) {
    const DraftStage& stage = draft.stages[s];
    for (int from = 0; from < count; ++from) {
      for (int to = 0; to < count; ++to) {
        if (from == to || stage.replicas[from] == 0) continue;
        PlanDraft one = draft;
        --one.stages[s].replicas[from];
        ++one.stages[s].replicas[to];
        found.push_back(std::move(one));
        // Devices of the other pool are taken in addition.
        PlanDraft both = draft;
        both.stages[s].replicas[to] += stage.replicas[from];
        found.push_back(std::move(both));
      }
    }
    if (s + 1 == draft.stages.size()) continue;
    const DraftStage& next = draft.stages[s + 1];
    if (next.tensor != stage.tensor || next.replicas == stage.replicas) continue;
    PlanDraft joined = draft;
    joined.stages[s].blocks += next.blocks;
    for (int pool = 0; pool < count; ++pool) joined.stages[s].replicas[pool] += next.replicas[pool];
    joined.stages.erase(joined.stages.begin() + static_cast<ptrdiff_t>(s) + 1);
    found.push_back(std::move(joined));
    PlanDraft exchanged = draft;
    for (int pool = 0; pool < count; ++pool) {
      const int all = stage.replicas[pool] + next.replicas[pool];
      exchanged.stages[s].replicas[pool] = all / 2;
      exchanged.stages[s + 1].replicas[pool] = all - all / 2;
    }
    PlanDraft even = exchanged;
    SpreadBlocks(draft.blocks(), even);
    found.push_back(std::move(exchanged));
    found.push_back(std::move(even));
  }
}

void DraftMoves::SwapStages(const PlanDraft& draft, Drafts& found) const {
  for (size_t s = 0; s + 1 < draft.stages.size(); ++s) {
    PlanDraft swapped = draft;
    std::swap(swapped.stages[s], swapped.stages[s + 1]);
    if (swapped != draft) found.push_back(std::move(swapped));
  }
}

}  // namespace stagecraft
