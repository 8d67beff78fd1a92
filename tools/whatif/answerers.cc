#include "tools/whatif/answerers.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "costmodel/check.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/step/evaluation_errors.h"
#include "tools/flags/cost_flags.h"
#include "tools/study/study_cache.h"
#include "tools/study/study_flags.h"
#include "tools/study/study_search.h"

namespace stagecraft {
namespace {

constexpr std::array kCostFlags = {"tokens", "price", "energy-price", "pue"};

bool IsCostFlag(const std::string& name) {
  return std::find(kCostFlags.begin(), kCostFlags.end(), name) != kCostFlags.end();
}

// The flags of cost, read point by point.
class CostReader {
 public:
  CostReader() : parser_("whatif", "Reads cost.") {
    values_.Register(parser_);
    unset_ = values_;
  }
  CostReader(const CostReader&) = delete;
  CostReader& operator=(const CostReader&) = delete;

  CostQuestion Read(const StudyPoint& point, const Cluster& cluster) {
    values_ = unset_;
    StudyPoint own;
    for (const auto& [name, value] : point.flags) {
      if (IsCostFlag(name)) own.flags[name] = value;
    }
    std::ostringstream help;
    parser_.Parse(WordsOf(own), help);
    return values_.Build(cluster);
  }

 private:
  Flags parser_;
  CostFlags values_, unset_;
};

StudyPoint WithoutCost(StudyPoint point) {
  for (const char* name : kCostFlags) point.flags.erase(name);
  return point;
}

// Explains a step, if it has an end.
void Take(PlannedJob job, SimulatedStep step, Answer& answer) {
  RequireSound(step.evaluation, step.plan, job.workload, job.cluster);
  answer.waits_are_known = !IsAsynchronous(step.plan.schedule);
  if (answer.waits_are_known) {
    answer.step = Explain(std::move(job), std::move(step));
  } else {
    answer.step = Explanation{"", "", std::move(job), std::move(step), {}, {}, {}};
  }
}

class Simulating : public Answerer {
 public:
  Answer Ask(const StudyPoint& point) override {
    Answer answer;
    try {
      const StudyPoint step = WithoutCost(point);
      flags_.Read(step);
      const std::shared_ptr<const StudyBase> base = flags_.Base(cache_, {});
      JobPlan own = flags_.BuildPlan(*base);
      PlannedJob job{.workload = base->job.workload,
                     .cluster = base->cluster,
                     .plan = std::move(own.plan),
                     .stack = "",
                     .stack_values = {},
                     .files = {},
                     .warnings = std::move(own.notes),
                     .network = base->network,
                     .memory = base->job.memory,
                     .slow = base->slow,
                     .cost = cost_.Read(point, base->cluster),
                     .margin = base->job.margin};
      for (const std::string& note : base->job.notes) job.warnings.push_back(note);
      SimulatedStep simulated =
          SimulateStep(job.plan, job.workload, job.cluster, *base->model->memo,
                       {.network = job.network, .framework = job.memory});
      Take(std::move(job), std::move(simulated), answer);
    } catch (const InputError& error) {
      answer.refusal = error.what();
    } catch (const LinkDownError& error) {
      answer.refusal = error.what();
    }
    return answer;
  }

 private:
  StudyCache cache_;
  StudyFlags flags_;
  CostReader cost_;
};

class Searching : public Answerer {
 public:
  explicit Searching(const std::atomic<bool>* stop) : search_(cache_, stop) {}

  Answer Ask(const StudyPoint& point) override {
    const BestPlan best = search_.Find(point);
    Answer answer{.refusal = best.refusal, .is_searched = true};
    if (!best.refusal.empty()) return answer;
    answer.is_best = best.run.result.is_optimal;
    answer.obstacle = best.run.result.obstacle;
    if (best.run.result.plans.empty()) return answer;
    PlannedJob job{.workload = best.job->workload,
                   .cluster = best.job->cluster,
                   .plan = best.run.result.plans[0].plan,
                   .stack = "",
                   .stack_values = {},
                   .files = best.job->files,
                   .warnings = best.job->warnings,
                   .memory = best.job->memory,
                   .cost = best.job->cost,
                   .margin = best.job->margin};
    SimulatedStep simulated = SimulateStep(job.plan, job.workload, job.cluster, *best.model->memo,
                                           {.framework = job.memory});
    Take(std::move(job), std::move(simulated), answer);
    return answer;
  }

 private:
  StudyCache cache_;
  StudySearch search_;
};

}  // namespace

std::unique_ptr<Answerer> SimulatingAnswerer() { return std::make_unique<Simulating>(); }

std::unique_ptr<Answerer> SearchingAnswerer(const std::atomic<bool>* stop) {
  return std::make_unique<Searching>(stop);
}

}  // namespace stagecraft
