#include "search/plans/shape_stages.h"

#include <algorithm>
#include <limits>
#include <string>

#include "search/partition/stages/stage_costs.h"
#include "sim/shard/shard.h"

namespace stagecraft {

ShapeStages::ShapeStages(const SearchProblem& problem, const PlanDraft& shape)
    : problem_(problem),
      table_(problem, shape),
      fills_(problem.cluster.homogeneous() && problem.choices.device_counts == DeviceCounts::kAll) {
  const std::vector<StageChoice>& all = table_.choices();
  const std::vector<Pool> pools = DraftPools(problem.cluster);
  const auto fill = static_cast<int64_t>(pools[0].devices) /
                    (int64_t{table_.replicas()} * shape.context * stages());
  const auto fills = [&](const StageChoice& choice) { return choice.tensor == fill; };
  const bool is_even = fills_ && std::any_of(all.begin(), all.end(), fills);
  unit_ = std::numeric_limits<int>::max();
  for (int i = 0; i < static_cast<int>(all.size()); ++i) {
    if (!is_even || fills(all[i])) unit_ = std::min(unit_, table_.devices(i));
  }
  for (const Pool& pool : pools) units_.push_back(pool.devices / unit_);
  for (int i = 0; i < static_cast<int>(all.size()); ++i) {
    if ((is_even && !fills(all[i])) || table_.devices(i) % unit_ != 0) continue;
    const StageReplicas on{all[i].pool, table_.devices(i) / unit_};
    const auto place = std::find(choices_.begin(), choices_.end(), on);
    const auto index = static_cast<size_t>(place - choices_.begin());
    if (place == choices_.end()) {
      choices_.push_back(on);
      in_table_.emplace_back();
    }
    in_table_[index].push_back(i);
  }
}

ShapeStages::Fitted ShapeStages::FitChoice(const PieceStage& stage) const {
  const auto place = std::find(choices_.begin(), choices_.end(), stage.on);
  const double in_flight = InFlight(table_.shape(), stages(), stages() - 1 - stage.stages_behind,
                                    table_.micro_batches());
  const int blocks = stage.end - stage.begin;
  Fitted best{0, std::numeric_limits<double>::infinity()};
  for (const int choice : in_table_[place - choices_.begin()]) {
    const double share = table_.MemoryShare(choice, stage.begin, blocks, in_flight);
    const double score = StageCosts::Score(table_.Time(choice, stage.begin, blocks).seconds(),
                                           std::max(0.0, share / kUsableMemory - 1));
    if (score < best.score) best = {choice, score};
  }
  return best;
}

double ShapeStages::Score(const PieceStage& stage) const { return FitChoice(stage).score; }

double ShapeStages::LeastSeconds() const {
  Duration least = Duration::Max();
  for (const std::vector<int>& choices : in_table_) {
    least = std::min(least, table_.Time(choices[0], 0, table_.blocks()));
  }
  return least.seconds() / stages();
}

void ShapeStages::Fit(std::vector<StageReplicas>& stages) const {
  const auto is_choice = [&](const StageReplicas& on) {
    return std::find(choices_.begin(), choices_.end(), on) != choices_.end();
  };
  for (int pool = 0; pool < static_cast<int>(units_.size()); ++pool) {
    int left = units_[pool];
    for (const StageReplicas& on : stages) left -= on.kind == pool ? on.replicas : 0;
    // The greatest degree is halved while there are too few units; the least is doubled while there
    // is room.
    while (left < 0) {
      StageReplicas* greatest = nullptr;
      for (StageReplicas& on : stages) {
        const bool is_greater = greatest == nullptr || on.replicas > greatest->replicas;
        if (on.kind == pool && is_greater && is_choice({pool, on.replicas / 2})) greatest = &on;
      }
      if (greatest == nullptr) break;
      left += greatest->replicas - greatest->replicas / 2;
      greatest->replicas /= 2;
    }
    while (fills_ && left > 0) {
      StageReplicas* least = nullptr;
      for (StageReplicas& on : stages) {
        const bool is_less = least == nullptr || on.replicas < least->replicas;
        const bool has_room = on.replicas <= left && is_choice({pool, on.replicas * 2});
        if (on.kind == pool && is_less && has_room) least = &on;
      }
      if (least == nullptr) break;
      left -= least->replicas;
      least->replicas *= 2;
    }
  }
}

PlanDraft ShapeStages::Draft(const std::vector<int>& ends,
                             const std::vector<StageReplicas>& stages) const {
  PlanDraft draft = table_.shape();
  draft.stages.assign(stages.size(), {});
  for (int s = 0; s < static_cast<int>(stages.size()); ++s) {
    const int begin = s == 0 ? 0 : ends[s - 1];
    const int behind = static_cast<int>(stages.size()) - 1 - s;
    const int choice = FitChoice({begin, ends[s], stages[s], behind, 0}).choice;
    draft.stages[s] = table_.Stage(choice, ends[s] - begin);
  }
  return draft;
}

StageProblem ShapeStages::AsStageProblem() const {
  const Workload& workload = problem_.workload;
  StageProblem problem;
  problem.graph.name = workload.name;
  std::vector<std::string> names;
  std::vector<DagEdge> edges;
  for (int block = 0; block < table_.blocks(); ++block) {
    const Duration time = table_.Time(in_table_[0][0], block, 1);
    const Duration forward = Duration::Nanoseconds(time.ns() / 3);
    const int64_t parameters = ShardParameters(workload.layer(block + 1), 1, 1).Total();
    const int64_t outputs = table_.shape().micro_batch * problem_.given.sequence * workload.hidden;
    names.push_back(std::to_string(block));
    problem.graph.nodes.push_back(
        {names.back(), forward, time - forward, Bytes(2 * outputs), Bytes(2 * parameters)});
    if (block > 0) edges.push_back({block - 1, block});
  }
  problem.graph.dag = MakeDag(names, edges, workload.name);
  const int middle = table_.blocks() / 2;
  const auto time_on = [&](int pool) {
    for (size_t c = 0; c < choices_.size(); ++c) {
      if (choices_[c].kind == pool)
        return table_.Time(in_table_[c][0], middle, 1).seconds() * choices_[c].replicas;
    }
    return std::numeric_limits<double>::infinity();
  };
  for (int pool = 0; pool < static_cast<int>(units_.size()); ++pool) {
    StageDeviceKind kind{.count = units_[pool]};
    kind.speed = std::max(1e-3, time_on(choices_[0].kind) / time_on(pool));
    problem.kinds.push_back(kind);
  }
  problem.bandwidth = Bandwidth(1e15);  // so reductions between replicas take no time
  return problem;
}

}  // namespace stagecraft
