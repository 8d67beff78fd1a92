// The flags of `search`: what to choose from, and what not to.
#pragma once

#include <string>
#include <vector>

#include "search/plans/plan_search.h"
#include "search/problem.h"
#include "search/solution.h"
#include "sim/cluster/cluster.h"
#include "sim/workload/workload.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/price_flag.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// What was asked for, checked. Outlives its problems.
struct SearchJob {
  Workload workload;
  Cluster cluster;
  PlanDegrees given;
  Choices choices;
  Objective objective = Objective::kStepTime;
  PlanAlgorithm algorithm = PlanAlgorithm::kExhaustive;
  bool compares = false;  // all algorithms, with the budget each
  // On unlike GPUs, whose space holds few plans that use several kinds: the programme over
  // submeshes, too.
  bool goes_beyond = false;
  std::string page = {};  // to write their curves to; empty: none
  PlanSearchOptions options;
  bool wants_pareto = false;  // all plans that none beats, not the best by the objective
  bool wants_explanation = true;
  int shown = 5;                           // plans
  std::vector<double> prices = {};         // as of SearchProblem
  std::vector<std::string> files;          // that were read
  std::vector<std::string> warnings = {};  // what rests on an assumption, a sentence each

  SearchProblem Problem(const CostModel& model) const {
    return {.workload = workload,
            .cluster = cluster,
            .model = model,
            .given = given,
            .choices = choices,
            .objective = objective,
            .prices = prices};
  }
};

class SearchFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);

  // Throws InputError naming the flag or file at fault.
  SearchJob Build() const;

 private:
  void RegisterObjective(Flags& flags);
  void RegisterChoices(Flags& flags);
  void RegisterAlgorithm(Flags& flags);
  // All that says how to search.
  void BuildAlgorithm(SearchJob& job) const;

  PlanFlags given_;
  PriceFlag price_;
  Choices choices_;
  bool fewer_devices_ = false;
  std::vector<std::string> schedules_, recomputes_;
  std::string objective_ = "step-time", budget_, algorithm_ = "auto", policy_, page_;
  int top_ = 5;
  bool compares_ = false;
  uint64_t seed_ = 1;
  bool explain_ = true;
  Flag budget_option_;
  Flag policy_option_;
  Flag report_option_;
  Flag explain_option_;
};

// What algorithms that could go on for ever are given where nothing is said, and what is
// looked at beyond a space.
inline constexpr int64_t kUsualEvaluations = 5000;
inline constexpr int64_t kEvaluationsBeyond = 1000;

// "10s", "5000evals" or both with a comma. Throws InputError that names --budget.
Budget ParseBudget(const std::string& text);

}  // namespace stagecraft
