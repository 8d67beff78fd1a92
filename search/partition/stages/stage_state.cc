#include "search/partition/stages/stage_state.h"

#include <algorithm>
#include <utility>

namespace stagecraft {
namespace {

constexpr double kUnknown = -1;

}  // namespace

StageState::StageState(const StageCosts& costs, StagePlan plan)
    : costs_(costs),
      plan_(std::move(plan)),
      last_reader_(plan_.stage_of.size()),
      counts_(plan_.stages()),
      sizes_(plan_.stages()),
      crossing_(plan_.stages()),
      seconds_(plan_.stages(), kUnknown),
      unused_(UnusedDevices(costs.problem(), plan_)) {
  for (int node = 0; node < costs.dag().size(); ++node) {
    const int stage = plan_.stage_of[node];
    ++counts_[stage];
    sizes_[stage] += costs.of(node);
    last_reader_[node] = LastReader(node);
    AddCrossing(stage, last_reader_[node], costs.of(node).activations);
  }
}

int StageState::LastReader(int node) const {
  int last = -1;
  for (const int consumer : costs_.dag().consumers[node]) {
    last = std::max(last, plan_.stage_of[consumer]);
  }
  return last;
}

void StageState::AddCrossing(int first, int end, int64_t bytes) {
  for (int stage = first; stage < end; ++stage) {
    crossing_[stage] += bytes;
    seconds_[stage] = kUnknown;
    seconds_[stage + 1] = kUnknown;
  }
}

void StageState::Place(int node, int stage) {
  const int before = plan_.stage_of[node];
  const StageSizes& sizes = costs_.of(node);
  --counts_[before];
  ++counts_[stage];
  sizes_[before] -= sizes;
  sizes_[stage] += sizes;
  seconds_[before] = kUnknown;
  seconds_[stage] = kUnknown;
  AddCrossing(before, last_reader_[node], -sizes.activations);
  plan_.stage_of[node] = stage;
  AddCrossing(stage, last_reader_[node], sizes.activations);
  for (const int producer : costs_.dag().producers[node]) {
    int& last = last_reader_[producer];
    if (stage < last && before < last) continue;
    const int now = stage >= last ? stage : LastReader(producer);
    const int home = plan_.stage_of[producer];
    const int64_t bytes = costs_.of(producer).activations;
    AddCrossing(std::max(home, last), now, bytes);
    AddCrossing(std::max(home, now), last, -bytes);
    last = now;
  }
}

void StageState::MoveNodes(std::span<const int> nodes, int to) {
  for (const int node : nodes) {
    journal_.push_back({Change::kNode, node, plan_.stage_of[node], {}});
    Place(node, to);
  }
}

void StageState::Take(int stage, const StageReplicas& on) {
  StageReplicas& now = plan_.replicas[stage];
  unused_[now.kind] += now.replicas;
  unused_[on.kind] -= on.replicas;
  now = on;
  seconds_[stage] = kUnknown;
}

void StageState::SetReplicas(int stage, const StageReplicas& on) {
  journal_.push_back({Change::kReplicas, stage, 0, plan_.replicas[stage]});
  Take(stage, on);
}

void StageState::Renumber(int from, int by) {
  for (int& stage : plan_.stage_of) {
    if (stage >= from) stage += by;
  }
  for (int& stage : last_reader_) {
    if (stage >= from) stage += by;
  }
}

void StageState::Insert(int stage, const StageReplicas& on) {
  Renumber(stage, 1);
  plan_.replicas.insert(plan_.replicas.begin() + stage, on);
  unused_[on.kind] -= on.replicas;
  counts_.insert(counts_.begin() + stage, 0);
  sizes_.insert(sizes_.begin() + stage, StageSizes{});
  const int64_t bytes = stage > 0 ? crossing_[stage - 1] : 0;
  crossing_.insert(crossing_.begin() + stage, bytes);
  seconds_.insert(seconds_.begin() + stage, kUnknown);
  if (stage == 0) seconds_[1] = kUnknown;
}

void StageState::Erase(int stage) {
  const StageReplicas on = plan_.replicas[stage];
  Renumber(stage + 1, -1);
  plan_.replicas.erase(plan_.replicas.begin() + stage);
  unused_[on.kind] += on.replicas;
  counts_.erase(counts_.begin() + stage);
  sizes_.erase(sizes_.begin() + stage);
  crossing_.erase(crossing_.begin() + stage);
  seconds_.erase(seconds_.begin() + stage);
  if (stage == 0) seconds_[0] = kUnknown;
}

void StageState::InsertStage(int stage, const StageReplicas& on) {
  journal_.push_back({Change::kInsert, stage, 0, on});
  Insert(stage, on);
}

void StageState::EraseStage(int stage) {
  journal_.push_back({Change::kErase, stage, 0, plan_.replicas[stage]});
  Erase(stage);
}

void StageState::Undo() {
  while (!journal_.empty()) {
    const Entry entry = journal_.back();
    journal_.pop_back();
    switch (entry.change) {
      case Change::kNode:
        Place(entry.index, entry.stage);
        break;
      case Change::kReplicas:
        Take(entry.index, entry.on);
        break;
      case Change::kInsert:
        Erase(entry.index);
        break;
      case Change::kErase:
        Insert(entry.index, entry.on);
        break;
    }
  }
}

double StageState::Score() {
  double slowest = -1;
  double excess = 0;
  int behind = 0;
  for (int stage = plan_.stages() - 1; stage >= 0; --stage) {
    const StageReplicas& on = plan_.replicas[stage];
    if (seconds_[stage] < 0) {
      const int64_t in = stage > 0 ? crossing_[stage - 1] : 0;
      const int64_t out = stage > 0 ? crossing_[stage] : 0;
      seconds_[stage] = costs_.Seconds(sizes_[stage], on, in, out);
    }
    if (seconds_[stage] >= slowest) {
      slowest = seconds_[stage];
      slowest_stage_ = stage;
    }
    if (!costs_.has_memory()) continue;
    excess = std::max(excess, costs_.Excess(sizes_[stage], on, behind));
    behind += on.replicas;
  }
  return StageCosts::Score(slowest, excess);
}

}  // namespace stagecraft
