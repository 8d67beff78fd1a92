#include "tools/flags/search_flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "search/partition/stages/stage_policy.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "tools/flags/framework_choices.h"
#include "tools/verb/flags.h"
#include "tools/verb/quantity.h"

namespace stagecraft {
namespace {

// Removes values that occurred before.
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

// "all", and the names of the schedules that it stands for: those that flush their pipeline.
Args ScheduleNames() {
  Args names{"all"};
  for (const PipelineSchedule pipeline_schedule : NamedPipelineSchedules()) {
    if (!IsAsynchronous(pipeline_schedule)) names.push_back(Name(pipeline_schedule));
  }
  return names;
}

[[noreturn]] void RefuseBudget(const std::string& text) {
  throw InputError(
      "--budget: got \"" + text +
      "\", want a time as 10s or 5min, evaluations as 5000evals, or both with a comma");
}

}  // namespace

Budget ParseBudget(const std::string& text) {
  Budget budget;
  for (std::string_view unit : SplitAt(text, ',')) {
    const std::string whole(unit);
    const double number = TakeNumber<double>(unit).value_or(0);
    if (!(number > 0) || number > 1e12) RefuseBudget(text);
    const std::optional<double> seconds = unit.empty() ? std::nullopt : ParseSeconds(whole);
    if (seconds && *seconds <= 1e12 && budget.seconds == 0) {
      budget.seconds = *seconds;
    } else if (unit == "evals" && budget.evaluations == 0 && number == std::floor(number)) {
      budget.evaluations = static_cast<int64_t>(number);
    } else {
      RefuseBudget(text);
    }
  }
  return budget;
}

void SearchFlags::Register(Flags& flags) {
  RegisterObjective(flags);
  RegisterChoices(flags);
  given_.RegisterGiven(flags);
  flags.In(FlagTopic::kNetwork)
      .Add("--micro-batch", choices_.micro_batches,
           {"<n,...>", "Samples per micro-batch to choose from.", "1 or more",
            "1 to 16, and larger ones of at most 65,536 tokens"})
      .SplitAtCommas()
      .AtLeast(1)
      .Common();
  RegisterAlgorithm(flags);
}

void SearchFlags::RegisterChoices(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kParallelism);
  group
      .Add("--for", framework_,
           {"<framework>", "Look only at plans that this training framework can run.", "", "all"})
      .Suggest(FrameworkTable::Embedded().Names());
  const auto add = [](FlagGroup& topic, const char* name, auto& values, FlagText text) {
    return topic.Add(name, values, std::move(text)).SplitAtCommas();
  };
  add(group, "--tp", choices_.tensor,
      {"<n,...>", "Tensor-parallel degrees to choose from.", "1 or more", "all"})
      .AtLeast(1)
      .Common();
  add(group, "--pp", choices_.pipeline,
      {"<n,...>", "Numbers of pipeline stages to choose from.", "1 or more", "all"})
      .AtLeast(1)
      .Common();
  add(group, "--cp", choices_.context,
      {"<n,...>", "Context-parallel degrees to choose from.", "1 or more",
       "powers of two up to 16"})
      .AtLeast(1);
  add(group, "--ep", choices_.expert,
      {"<n,...>", "Expert-parallel degrees to choose from.", "1 or more", "all"})
      .AtLeast(1);
  add(group, "--rank-order", choices_.rank_orders,
      {"<order,...>",
       "How ranks may be placed: names of degrees, the one with the closest ranks first.", "",
       "tp-cp-ep-dp-pp,tp-cp-ep-pp-dp"});
  FlagGroup schedule = flags.In(FlagTopic::kSchedule);
  add(schedule, "--schedule", schedules_,
      {"<name,...>", "Pipeline schedules to choose from: names as simulate takes them, or all.", "",
       "1f1b,interleaved"})
      .Suggest(ScheduleNames)
      .Common();
  add(schedule, "--vpp", choices_.chunks,
      {"<n,...>", "Chunks per stage to choose from.", "1 or more",
       "all that divide the blocks of a stage"})
      .AtLeast(1);
  FlagGroup memory = flags.In(FlagTopic::kMemory);
  add(memory, "--recompute", recomputes_,
      {"<name,...>",
       "Activations that the backward may compute again: none, the scores of unfused attention "
       "(selective), whole blocks (full).",
       "", "all three"})
      .Suggest({"none", "selective", "full"});
  add(memory, "--zero", choices_.zeros,
      {"<n,...>",
       "What may be sharded over replicas (ZeRO): 0 nothing, 1 optimizer states, 2 gradients too, "
       "3 parameters too.",
       "0 to 3", "all"})
      .Between(0, 3)
      .Common();
  flags.In(FlagTopic::kOverlap)
      .Add("--choose-overlap,!--no-choose-overlap", chooses_overlap_,
           {"",
            "Choose for each plan what runs beside computation: collectives of tensor parallelism "
            "within nodes, gathers of parameters, and messages between stages, as far as "
            "--overlap-tp, --overlap-param-gather and --overlap-p2p do not say.",
            "", "off"})
      .Common();
}

void SearchFlags::OpenOverlap(PlanDegrees& given, Choices& choices) const {
  if (!chooses_overlap_) return;
  choices.chooses_tensor_overlap = !given_.IsGiven("--overlap-tp");
  choices.chooses_gather_overlap = !given_.IsGiven("--overlap-param-gather");
  choices.chooses_send_overlap = !given_.IsGiven("--overlap-p2p");
  // What a training stack does by default is only one of the choices.
  if (choices.chooses_tensor_overlap) given.overlap_tensor = false;
  if (choices.chooses_gather_overlap) given.overlap_param_gather = false;
  if (choices.chooses_send_overlap) given.overlap_p2p = true;
}

void SearchFlags::RegisterObjective(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kSearch);
  group
      .Add("--objective", objective_,
           {"<name>",
            "What to minimise; pareto shows every plan that no other beats in step time, cost and "
            "memory at once.",
            "", "step-time"})
      .OneOf({"step-time", "cost", "memory", "pareto"})
      .Common();
  cost_.Register(flags);
  group.Add("--top", top_, {"<n>", "How many plans to show.", "1 to 1000", "5"})
      .Between(1, 1000)
      .Common();
  group.Add("--pick", pick_,
            {"<n>", "With -o: write the plan of this rank.", "1 to the number of --top", "1"});
  budget_option_ = group
                       .Add("--budget", budget_,
                            {"<budget>",
                             "End after a time (10s), a number of evaluated plans (5000evals) or "
                             "whichever comes first (10s,5000evals), with the best plan so far and "
                             "a bound on how much better another may be.",
                             "", "none, or 5000evals if the search would never end by itself"})
                       .Common();
  explain_option_ =
      group.Add("--explain,!--no-explain", explain_,
                {"",
                 "Say why the layers are split as they are, what the second best plan loses, and "
                 "what would change the choice.",
                 "", "on"});
  group.Add("--fewer-devices", fewer_devices_,
            {"",
             "For cost, memory and pareto: also search on half of the nodes, a quarter, and so on. "
             "For step-time every number of nodes is always tried."});
}

void SearchFlags::RegisterAlgorithm(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kSearch);
  group
      .Add("--algorithm", algorithm_,
           {"<name>",
            "How to search: exhaustive proves its answer, the others choose stage by stage; auto "
            "is exhaustive, and also dp if GPU types are mixed.",
            "", "auto"})
      .OneOf({"auto", "random", "exhaustive", "beam", "dp", "mcmc", "differentiable", "policy"});
  group.Add("--compare-algorithms", compares_,
            {"", "Run all algorithms with the same budget each, and compare what they find."});
  policy_option_ = group.Add("--policy", policy_,
                             {"<file>", "With --algorithm policy: a saved policy to start from."});
  group.Add("--seed", seed_, {"<n>", "Seed of all random draws.", "0 or more", "1"});
}

void SearchFlags::BuildAlgorithm(SearchJob& job) const {
  job.options.seed = seed_;
  job.compares = compares_;
  if (algorithm_ != "auto") job.algorithm = FindPlanAlgorithm(algorithm_).value();
  if (compares_ && algorithm_ != "auto") {
    throw InputError("--compare-algorithms: got it with --algorithm, want one of them");
  }
  job.goes_beyond =
      algorithm_ == "auto" && !compares_ && !job.wants_pareto && !job.cluster.homogeneous();
  const bool is_exhaustive = job.algorithm == PlanAlgorithm::kExhaustive && !compares_;
  if (job.wants_pareto && !is_exhaustive) {
    throw InputError("--objective: got pareto with another --algorithm, want exhaustive");
  }
  if (!is_exhaustive && explain_ && explain_option_.is_given()) {
    throw InputError("--explain: got another --algorithm, want exhaustive, whose answer is proven");
  }
  if (!is_exhaustive) job.wants_explanation = false;
  Budget& budget = job.options.search.budget;
  if (!is_exhaustive) budget.evaluations = kUsualEvaluations;
  if (budget_option_.is_given()) budget = ParseBudget(budget_);
  if (!policy_option_.is_given()) return;
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
                .margin = std::move(base.margin),
                .memory = base.memory,
                .files = std::move(base.files),
                .warnings = std::move(base.warnings)};
  job.shown = top_;
  job.cost = cost_.Build(job.cluster);
  job.picked = pick_;
  if (pick_ < 1 || pick_ > top_) {
    throw InputError(fmt::format("--pick: got {}, want 1 to the {} of --top", pick_, top_));
  }
  job.wants_pareto = objective_ == "pareto";
  if (job.wants_pareto && explain_ && explain_option_.is_given()) {
    throw InputError(
        "--explain: got it with --objective pareto, which has several best plans, want another "
        "objective");
  }
  job.wants_explanation = explain_ && !job.wants_pareto;
  // An explanation also says what the second best plan loses.
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
  for (const std::string& name : schedules_) {
    if (name == "all" && schedules_.size() == 1) {
      for (const PipelineSchedule pipeline_schedule : NamedPipelineSchedules()) {
        if (!IsAsynchronous(pipeline_schedule)) job.choices.schedules.push_back(pipeline_schedule);
      }
      continue;
    }
    const std::optional<PipelineSchedule> pipeline_schedule = FindPipelineSchedule(name);
    if (!pipeline_schedule) {
      throw InputError("--schedule: got \"" + name +
                       "\", want names as simulate takes them, or all");
    }
    job.choices.schedules.push_back(*pipeline_schedule);
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
  OpenOverlap(job.given, job.choices);
  TakeFramework(job);
  return job;
}

void SearchFlags::TakeFramework(SearchJob& job) const {
  if (framework_.empty()) return;
  const FrameworkTable& table = FrameworkTable::Embedded();
  job.framework = table.Find(framework_);
  if (job.framework == nullptr) {
    throw InputError(
        fmt::format("--for: got \"{}\"; {}", framework_, NearestNames(framework_, table.Names())));
  }
  for (std::string& note : RestrictChoices(*job.framework, job.given, job.choices)) {
    job.warnings.push_back(std::move(note));
  }
  job.options.search.top *= kFoundForEachShown;
}

}  // namespace stagecraft
