#include "tools/study/study_evaluator.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "search/evaluator.h"
#include "sim/cluster/slow_parts.h"
#include "sim/step/evaluation_errors.h"
#include "sim/step/plan_pass_orders.h"

namespace stagecraft {
namespace {

// Bases whose parts of plans a thread remembers.
constexpr size_t kMostWorkers = 8;

SimulationOptions OptionsOf(const StudyBase& base) {
  return {.network = base.network, .framework = base.job.memory};
}

}  // namespace

struct StudyEvaluator::Worker {
  Worker(std::string of_key, std::shared_ptr<const StudyBase> of_base)
      : key(std::move(of_key)),
        base(std::move(of_base)),
        evaluator(base->job.workload, base->cluster, *base->model->memo, OptionsOf(*base)) {}

  std::string key;
  std::shared_ptr<const StudyBase> base;
  Evaluator evaluator;
};

StudyEvaluator::StudyEvaluator(StudyCache& cache, UnfitPlans unfit)
    : cache_(cache), unfit_(unfit) {}
StudyEvaluator::~StudyEvaluator() = default;

StudyEvaluator::Worker& StudyEvaluator::WorkerOf(const ClusterChanges& changes) {
  std::string key = flags_.BaseKey(changes);
  const auto found = std::find_if(workers_.begin(), workers_.end(),
                                  [&](const auto& worker) { return worker->key == key; });
  if (found != workers_.end()) {
    std::rotate(workers_.begin(), found, found + 1);
    return *workers_.front();
  }
  auto base = flags_.Base(cache_, changes);
  if (workers_.size() == kMostWorkers) workers_.pop_back();
  workers_.insert(workers_.begin(), std::make_unique<Worker>(std::move(key), std::move(base)));
  return *workers_.front();
}

StudyResult StudyEvaluator::EvaluateOrThrow(const StudyPoint& point,
                                            const ClusterChanges& changes) {
  flags_.Read(point);
  Worker& worker = WorkerOf(changes);
  const StudyBase& base = *worker.base;
  const Workload& workload = base.job.workload;
  JobPlan own = flags_.BuildPlan(base);
  StudyResult result;
  result.base = worker.base;
  result.notes = std::move(own.notes);
  // Passes are ordered as on a cluster at full speed, as in SimulateStep().
  result.plan = WithPassOrders(std::move(own.plan), workload, base.job.cluster, *base.model->memo,
                               base.job.memory);
  result.evaluation = worker.evaluator.Evaluate(result.plan);
  if (!result.evaluation.fits && unfit_ == UnfitPlans::kUntimed) return result;
  if (!result.evaluation.fits) {
    result.evaluation =
        SimulateStep(result.plan, workload, base.cluster, *base.model->memo, OptionsOf(base))
            .evaluation;
  }
  RequireSound(result.evaluation, result.plan, workload, base.cluster);
  return result;
}

StudyResult StudyEvaluator::Evaluate(const StudyPoint& point, const ClusterChanges& changes) {
  StudyResult refused;
  try {
    return EvaluateOrThrow(point, changes);
  } catch (const InputError& error) {
    refused.refusal = error.what();
  } catch (const LinkDownError& error) {
    refused.refusal = error.what();
  }
  return refused;
}

}  // namespace stagecraft
