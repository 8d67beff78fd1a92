#include "tools/flags/search_flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "search/partition/stages/stage_policy.h"
#include "sim/pipeline/order_kind.h"
#include "tools/flags/sample_flags.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

template <typename T>
void AddList(CLI::App& app, const char* name, std::vector<T>& values, const std::string& text) {
  app.add_option(name, values, text)->delimiter(',');
}

// What is given twice is asked for once.
template <typename T>
void KeepFirstOfEach(std::vector<T>& values) {
  std::vector<T> kept;
  for (const T& value : values) {
    if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(value);
  }
  values = std::move(kept);
}

void KeepFirstOfEach(Choices& choices) {
  for (std::vector<int>* degrees : {&choices.tensor, &choices.context, &choices.expert,
                                    &choices.pipeline, &choices.chunks, &choices.zeros}) {
    KeepFirstOfEach(*degrees);
  }
  KeepFirstOfEach(choices.micro_batches);
  KeepFirstOfEach(choices.recomputes);
  KeepFirstOfEach(choices.rank_orders);
}

[[noreturn]] void RefuseBudget(const std::string& text) {
  throw InputError("--budget: got \"" + text +
                   "\", want a time as 10s, evaluations as 5000evals, "
                   "or both with a comma");
}

}  // namespace

Budget ParseBudget(const std::string& text) {
  Budget budget;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, comma - begin);
    double number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    const std::string unit(end, part.data() + part.size());
    if (error != std::errc() || !(number > 0) || number > 1e12) RefuseBudget(text);
    if (unit == "s" && budget.seconds == 0) {
      budget.seconds = number;
    } else if (unit == "evals" && budget.evaluations == 0 && number == std::floor(number)) {
      budget.evaluations = static_cast<int64_t>(number);
    } else {
      RefuseBudget(text);
    }
    begin = comma + 1;
  }
  return budget;
}

void SearchFlags::Register(CLI::App& app) {
  given_.RegisterGiven(app);
  AddList(app, "--tp", choices_.tensor, "tensor-parallel degrees to choose from [all]");
  AddList(app, "--pp", choices_.pipeline, "numbers of stages [all]");
  AddList(app, "--cp", choices_.context, "context-parallel degrees [powers of two to 16]");
  AddList(app, "--ep", choices_.expert, "expert-parallel degrees [all]");
  AddList(app, "--vpp", choices_.chunks, "chunks per stage [all that divide the blocks]");
  AddList(app, "--micro-batch", choices_.micro_batches,
          "samples per micro-batch [1 to 16, or more of up to 65,536 tokens]");
  AddList(app, "--schedule", orders_, "schedules, or all [1f1b,interleaved]");
  AddList(app, "--recompute", recomputes_, "none, selective, full [all]");
  AddList(app, "--zero", choices_.zeros, "0 to 3 [all]");
  AddList(app, "--rank-order", choices_.rank_orders,
          "fastest first [tp-cp-ep-dp-pp,tp-cp-ep-pp-dp]");
  app.add_flag("--fewer-devices", fewer_devices_,
               "for cost, memory and pareto: consider half of the nodes too, a quarter, ... (the "
               "least step time is sought on any number of nodes)");
  app.add_option("--objective", objective_, "what is to be least [step-time]")
      ->check(OneOf({"step-time", "cost", "memory", "pareto"}));
  price_.Register(app);
  explain_option_ =
      app.add_flag("--explain,!--no-explain", explain_,
                   "why this split, what the second best loses, what sways the choice [on]");
  app.add_option("--algorithm", algorithm_,
                 "how to search [auto: exhaustive, with a proof, and on unlike boards dp besides]; "
                 "the others choose stage by stage")
      ->check(OneOf(
          {"auto", "random", "exhaustive", "beam", "dp", "mcmc", "differentiable", "policy"}));
  app.add_flag("--compare-algorithms", compares_, "all of them, with the budget each");
  report_option_ =
      app.add_option("--report", page_, "with --compare-algorithms: an .html page of its curves");
  app.add_option("--seed", seed_, "of what is drawn [1]");
  policy_option_ = app.add_option("--policy", policy_, "a saved policy to start from");
  app.add_option("--top", top_, "plans to show [5]");
  budget_option_ =
      app.add_option("--budget", budget_, "10s, 5000evals or both: the best so far, and the bound");
}

void SearchFlags::BuildAlgorithm(SearchJob& job) const {
  job.options.seed = seed_;
  job.compares = compares_;
  if (algorithm_ != "auto") job.algorithm = FindPlanAlgorithm(algorithm_).value();
  if (compares_ && algorithm_ != "auto") {
    throw InputError("--compare-algorithms: takes all of them, --algorithm one: want one of both");
  }
  job.goes_beyond =
      algorithm_ == "auto" && !compares_ && !job.wants_pareto && !job.cluster.homogeneous();
  const bool is_exhaustive = job.algorithm == PlanAlgorithm::kExhaustive && !compares_;
  if (job.wants_pareto && !is_exhaustive) {
    throw InputError("--objective: pareto is found exhaustively, want no other algorithm");
  }
  if (!is_exhaustive && explain_ && explain_option_->count() > 0) {
    throw InputError("--explain: is of an answer that is proven, want no other algorithm");
  }
  if (!is_exhaustive) job.wants_explanation = false;
  Budget& budget = job.options.search.budget;
  if (!is_exhaustive) budget.evaluations = kUsualEvaluations;
  if (budget_option_->count() > 0) budget = ParseBudget(budget_);
  if (report_option_->count() > 0) {
    if (!compares_) throw InputError("--report: wants --compare-algorithms");
    CheckOutputPath("--report", page_, {".html"});
    job.page = page_;
  }
  if (policy_option_->count() == 0) return;
  if (!compares_ && job.algorithm != PlanAlgorithm::kPolicy) {
    throw InputError("--policy: wants --algorithm policy, or --compare-algorithms");
  }
  job.options.policy = ReadFile(policy_);
  StagePolicy::Read(job.options.policy, policy_);
  job.files.push_back(policy_);
}

SearchJob SearchFlags::Build() const {
  PlanDegrees given;
  PlannedJob base = given_.BuildGiven(&given);
  SearchJob job{.workload = std::move(base.workload),
                .cluster = std::move(base.cluster),
                .given = std::move(given),
                .choices = choices_,
                .options = {},
                .files = std::move(base.files),
                .warnings = std::move(base.warnings)};
  if (top_ < 1 || top_ > 1000) {
    throw InputError(fmt::format("--top: got {}, want 1 to 1000", top_));
  }
  job.shown = top_;
  job.prices = price_.Build(job.cluster);
  job.wants_pareto = objective_ == "pareto";
  if (job.wants_pareto && explain_ && explain_option_->count() > 0) {
    throw InputError("--explain: is of one best plan, and --objective pareto has several");
  }
  job.wants_explanation = explain_ && !job.wants_pareto;
  // An explanation is of the second best, too.
  job.options.search.top = job.wants_explanation ? std::max(2, top_) : top_;
  BuildAlgorithm(job);
  for (const Objective objective : {Objective::kStepTime, Objective::kCost, Objective::kMemory}) {
    if (objective_ == Name(objective)) job.objective = objective;
  }
  if (job.objective == Objective::kStepTime && !job.wants_pareto) {
    job.choices.device_counts = DeviceCounts::kAny;
  } else if (fewer_devices_) {
    job.choices.device_counts = DeviceCounts::kHalves;
  }
  for (const std::string& name : orders_) {
    if (name == "all" && orders_.size() == 1) {
      for (const PipelineOrder order : NamedOrders()) {
        if (!IsAsynchronous(order)) job.choices.orders.push_back(order);
      }
      continue;
    }
    const std::optional<PipelineOrder> order = FindPipelineOrder(name);
    if (!order) {
      throw InputError("--schedule: got \"" + name +
                       "\", want names as simulate takes them, or all");
    }
    job.choices.orders.push_back(*order);
  }
  for (const std::string& order : job.choices.rank_orders) {
    if (!ParseRankOrder(order)) throw InputError("--rank-order: " + RankOrderProblem(order));
  }
  for (const std::string& name : recomputes_) {
    bool is_known = false;
    for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
      if (name != Name(recompute)) continue;
      job.choices.recomputes.push_back(recompute);
      is_known = true;
    }
    if (!is_known) {
      throw InputError("--recompute: got \"" + name + "\", want none, selective or full");
    }
  }
  KeepFirstOfEach(job.choices);
  return job;
}

}  // namespace stagecraft
