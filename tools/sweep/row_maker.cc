#include "tools/sweep/row_maker.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tools/study/study_evaluator.h"
#include "tools/study/study_flags.h"
#include "tools/study/study_search.h"
#include "tools/sweep/evaluation_row.h"

namespace stagecraft {
namespace {

constexpr double kNothingKnown = 0;

RunRow RowWithoutResults(const Grid& grid, const SweepInputs& inputs, int64_t index,
                         StudyPoint& point) {
  point = grid.At(index);
  RunRow row;
  row.point = index;
  row.inputs_hash = inputs.HashOf(point);
  row.flags =
      nlohmann::json(point.flags).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return row;
}

void Refuse(const std::string& reason, RunRow& row) {
  row.outcome = Outcome::kRefused;
  row.reason = reason;
  row.result_hash = HashOfResults(reason);
}

class SimulatedRows : public RowMaker {
 public:
  SimulatedRows(const Grid& grid, const SweepInputs& inputs, StudyCache& cache)
      : grid_(grid), inputs_(inputs), evaluator_(cache, UnfitPlans::kUntimed) {}

  RunRow Make(int64_t index) override {
    StudyPoint point;
    RunRow row = RowWithoutResults(grid_, inputs_, index, point);
    const StudyResult result = evaluator_.Evaluate(point);
    if (result.is_refused()) {
      Refuse(result.refusal, row);
    } else {
      const StudyBase& base = *result.base;
      FillRow(result.evaluation, result.plan, base.job.workload, base.cluster, base.job.margin,
              row);
    }
    return row;
  }

 private:
  const Grid& grid_;
  const SweepInputs& inputs_;
  StudyEvaluator evaluator_;
};

class SearchedRows : public RowMaker {
 public:
  SearchedRows(const Grid& grid, const SweepInputs& inputs, StudyCache& cache,
               const std::atomic<bool>* stop)
      : grid_(grid), inputs_(inputs), search_(cache, stop) {}

  RunRow Make(int64_t index) override {
    StudyPoint point;
    RunRow row = RowWithoutResults(grid_, inputs_, index, point);
    const BestPlan best = search_.Find(point);
    if (!best.refusal.empty()) {
      Refuse(best.refusal, row);
      return row;
    }
    const SearchResult& result = best.run.result;
    row[RunNumber::kEvaluated] = static_cast<double>(result.evaluated);
    if (result.plans.empty()) {
      Refuse(result.obstacle, row);
      row.outcome = Outcome::kDoesNotFit;
      return row;
    }
    const RankedPlan& plan = result.plans[0];
    FillRow(plan.evaluation, plan.plan, best.job->workload, best.job->cluster, best.job->margin,
            row);
    const bool is_time = best.job->objective == Objective::kStepTime;
    if (is_time && result.bound > kNothingKnown) row[RunNumber::kBound] = result.bound * 1e3;
    return row;
  }

 private:
  const Grid& grid_;
  const SweepInputs& inputs_;
  StudySearch search_;
};

std::vector<GridFlag> GridFlagsOf(const Flags& flags) {
  std::vector<GridFlag> named;
  for (const Flag& flag : flags.All()) {
    const std::string& name = flag.name();
    named.push_back({name.substr(2), flag.is_switch(), flag.takes_text()});
  }
  return named;
}

}  // namespace

std::unique_ptr<RowMaker> MakeRowMaker(const Grid& grid, const SweepInputs& inputs,
                                       StudyCache& cache, const std::atomic<bool>* stop) {
  if (grid.verb() == GridVerb::kSearch) {
    return std::make_unique<SearchedRows>(grid, inputs, cache, stop);
  }
  return std::make_unique<SimulatedRows>(grid, inputs, cache);
}

std::vector<GridFlag> FlagsOf(GridVerb verb) {
  if (verb == GridVerb::kSimulate) return GridFlagsOf(StudyFlags().flags());
  StudyCache cache;
  std::vector<GridFlag> flags;
  for (GridFlag& flag : GridFlagsOf(StudySearch(cache).flags())) {
    if (IsFlagOfPoints(flag.name)) flags.push_back(std::move(flag));
  }
  return flags;
}

}  // namespace stagecraft
