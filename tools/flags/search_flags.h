// The flags of `search`: the plans to choose from, and what all of them have in common.
#pragma once

#include <string>
#include <vector>

#include "search/plans/plan_search.h"
#include "search/problem.h"
#include "search/solution.h"
#include "sim/cluster/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/step/training_cost.h"
#include "sim/workload/workload.h"
#include "tools/flags/cost_flags.h"
#include "tools/flags/memory_margin.h"
#include "tools/flags/plan_flags.h"
#include "tools/frameworks/framework_table.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// What the flags ask for, checked. Must outlive the results of Problem(), which refer to it.
struct SearchJob {
  Workload workload;
  Cluster cluster;
  PlanDegrees given;
  Choices choices;
  Objective objective = Objective::kStepTime;
  PlanAlgorithm algorithm = PlanAlgorithm::kExhaustive;
  bool compares = false;  // run all algorithms, each with the whole budget
  // Also run the dynamic programme over submeshes. For clusters of several GPU types: the plan
  // space of the exhaustive search holds few plans that use more than one type.
  bool goes_beyond = false;
  PlanSearchOptions options;
  bool wants_pareto = false;  // all plans that no other beats, not the best by `objective`
  bool wants_explanation = true;
  int shown = 5;   // plans in the report
  int picked = 1;  // the rank of the plan that is written to a file
  CostQuestion cost = {};
  MemoryMargin margin = {};  // the cluster's devices have this much less memory
  // What has to run the plans; null: anything. SearchAsAsked() drops the plans that it cannot run.
  const TrainingFramework* framework = nullptr;
  FrameworkMemory memory = {};             // of the training stack's software
  std::vector<std::string> files;          // that were read
  std::vector<std::string> warnings = {};  // assumptions that results rest on, a sentence each

  SearchProblem Problem(const CostModel& model) const {
    return {.workload = workload,
            .cluster = cluster,
            .model = model,
            .given = given,
            .choices = choices,
            .objective = objective,
            .framework = memory,
            .prices = cost.rates.usd_per_gpu_hour};
  }
};

// SearchFlags: a search, as a command line describes it.
class SearchFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);

  // Returns what the flags ask for. Throws InputError that names the flag or file at fault.
  SearchJob Build() const;

  uint64_t seed() const { return seed_; }
  // What --model names, as it was typed.
  const std::string& model() const { return given_.model(); }

 private:
  void RegisterObjective(Flags& flags);
  void RegisterChoices(Flags& flags);
  void RegisterAlgorithm(Flags& flags);
  // Leaves open what --choose-overlap says, except for what other flags give.
  void OpenOverlap(PlanDegrees& given, Choices& choices) const;
  // Restricts the choices to what --for names.
  void TakeFramework(SearchJob& job) const;
  // Sets everything that says how to search.
  void BuildAlgorithm(SearchJob& job) const;

  PlanFlags given_;
  CostFlags cost_;
  Choices choices_;
  bool fewer_devices_ = false, chooses_overlap_ = false;
  std::vector<std::string> schedules_, recomputes_;
  std::string framework_;
  std::string objective_ = "step-time", budget_, algorithm_ = "auto", policy_;
  int top_ = 5, pick_ = 1;
  bool compares_ = false;
  uint64_t seed_ = 1;
  bool explain_ = true;
  Flag budget_option_;
  Flag policy_option_;
  Flag explain_option_;
};

// Without --budget, algorithms that could go on for ever end after kUsualEvaluations. A search
// beyond the plan space (SearchJob::goes_beyond) always ends after kEvaluationsBeyond.
inline constexpr int64_t kUsualEvaluations = 5000;
inline constexpr int64_t kEvaluationsBeyond = 1000;

// Parses "10s", "5000evals", or both with a comma between them. Throws InputError that names
// --budget.
Budget ParseBudget(const std::string& text);

}  // namespace stagecraft
