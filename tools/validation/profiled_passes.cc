#include "tools/validation/profiled_passes.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>

#include "costmodel/check.h"
#include "sim/step/evaluation.h"
#include "tools/validation/row_memory.h"
#include "tools/validation/row_plan.h"

namespace stagecraft {
namespace {

std::optional<Phase> PhaseOf(const std::string& metric) {
  if (metric == "profiled_T_F") return Phase::kForward;
  if (metric == "profiled_T_B") return Phase::kBackwardInput;
  if (metric == "profiled_T_W") return Phase::kBackwardWeight;
  return std::nullopt;
}

// The mean time of a stage's passes of a phase for one micro-batch.
double MeanPass(const SimulatedStep& step, Phase phase, int64_t micro_batches) {
  const Schedule& schedule = step.schedule;
  double seconds = 0, ranks = 0;
  for (const RankInfo& rank : schedule.ranks()) ranks += static_cast<double>(rank.multiplicity);
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    if (info.rank < 0 || info.kind != LaneKind::kCompute) continue;
    const auto weight = static_cast<double>(schedule.ranks()[info.rank].multiplicity);
    for (const TaskId task : schedule.order(Lane(lane))) {
      if (schedule.tag(task).phase != phase) continue;
      seconds += weight * (step.timeline.end(task) - step.timeline.start(task)).seconds();
    }
  }
  return seconds / ranks / static_cast<double>(micro_batches);
}

double PredictPass(const MeasuredRow& row, Phase phase, const PredictionBasis& basis) {
  CompletedRow completed = CompleteRow(row, basis.facts.Of(row), basis.stacks, basis.constants);
  const RowPlan job = BuildRowPlan(completed);
  const SimulatedStep step = SimulateStep(job.plan, job.network.workload, job.cluster, basis.model,
                                          {.unfold = true, .framework = RowFramework(completed)});
  const auto replicas = static_cast<int64_t>(job.plan.stages.front().replicas.size());
  const double seconds = MeanPass(step, phase, job.plan.micro_batches() / replicas);
  if (!(seconds > 0)) throw InputError("its pipeline schedule has no such pass");
  return seconds;
}

}  // namespace

std::vector<ProfiledPass> PredictPasses(std::span<const MeasuredRow> rows,
                                        const PredictionBasis& basis) {
  std::vector<ProfiledPass> passes;
  for (const MeasuredRow& row : rows) {
    const std::optional<Phase> phase = PhaseOf(row.metric);
    if (!phase || !(row.value > 0)) continue;
    ProfiledPass pass = {row.id, row.model, row.metric, row.value, std::nullopt, ""};
    try {
      pass.predicted = PredictPass(row, *phase, basis);
    } catch (const InputError& error) {
      pass.reason = error.what();
    }
    passes.push_back(std::move(pass));
  }
  return passes;
}

void PrintPasses(std::span<const ProfiledPass> passes, std::ostream& out) {
  struct Mean {
    int rows = 0;
    double measured = 0, predicted = 0;
  };
  std::map<std::pair<std::string, std::string>, Mean> means;
  for (const ProfiledPass& pass : passes) {
    if (!pass.predicted) continue;
    Mean& mean = means[{pass.model, pass.metric}];
    ++mean.rows;
    mean.measured += pass.measured;
    mean.predicted += *pass.predicted;
  }
  if (means.empty()) return;
  fmt::print(out, "\nprofiled passes of one micro-batch on one stage (not scored)\n");
  fmt::print(out, "  {:<16} {:<14} {:>4} {:>12} {:>12} {:>8}\n", "network", "pass", "rows",
             "measured ms", "predicted ms", "error");
  for (const auto& [key, mean] : means) {
    fmt::print(out, "  {:<16} {:<14} {:>4} {:>12.3f} {:>12.3f} {:>6.1f} %\n", key.first, key.second,
               mean.rows, 1e3 * mean.measured / mean.rows, 1e3 * mean.predicted / mean.rows,
               100 * (mean.predicted / mean.measured - 1));
  }
}

nlohmann::ordered_json PassesToJson(std::span<const ProfiledPass> passes) {
  using Json = nlohmann::ordered_json;
  Json json = Json::array();
  for (const ProfiledPass& pass : passes) {
    json.push_back({{"id", pass.id},
                    {"metric", pass.metric},
                    {"measured", pass.measured},
                    {"predicted", pass.predicted ? Json(*pass.predicted) : Json(nullptr)},
                    {"reason", pass.reason}});
  }
  return json;
}

}  // namespace stagecraft
