#include <fmt/core.h>
#include <fmt/ostream.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/memo_model.h"
#include "costmodel/proto_file.h"
#include "proto/plan.pb.h"
#include "search/checker.h"
#include "search/edge_notes.h"
#include "search/explanation.h"
#include "search/plan_space.h"
#include "search/plans/plan_search.h"
#include "search/remedy.h"
#include "search/space_views.h"
#include "search/stopwatch.h"
#include "search/team.h"
#include "search/tie.h"
#include "sim/plan/plan_degrees.h"
#include "sim/step/evaluation.h"
#include "sim/step/evaluation_errors.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/sample_flags.h"
#include "tools/flags/search_flags.h"
#include "tools/frameworks/framework_table.h"
#include "tools/frameworks/training_export.h"
#include "tools/ranks/run_on_ranks.h"
#include "tools/report/algorithm_comparison.h"
#include "tools/report/answer_page.h"
#include "tools/report/pareto_report.h"
#include "tools/report/placement.h"
#include "tools/report/remedy_report.h"
#include "tools/report/search_explanation.h"
#include "tools/report/search_progress.h"
#include "tools/report/search_report.h"
#include "tools/report/tie_report.h"
#include "tools/report/training_cost_report.h"
#include "tools/study/plan_runs.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/interrupt_catcher.h"
#include "tools/verb/output_files.h"
#include "tools/verb/print_json.h"
#include "tools/verb/proto_text.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;
constexpr size_t kMostCompared = 10;  // plans, each of which is simulated once more

// Simulates every plan that a search returned once more, from scratch. A difference is a bug that a
// user may be the first to meet: it is reported, and the answer is not printed.
void CheckPlans(const SearchProblem& problem, const std::vector<PlanRun>& runs) {
  for (const PlanRun& run : runs) {
    for (const RankedPlan& ranked : run.result.plans) {
      const std::vector<std::string> errors = FindErrors(problem, ranked);
      if (errors.empty()) continue;
      throw std::runtime_error(
          fmt::format("a plan that the search found is not confirmed when it is simulated again, "
                      "which is an error in stagecraft, not in the input: {}",
                      errors[0]));
    }
  }
}

std::string BudgetText(const Budget& budget) {
  std::string text;
  if (budget.evaluations > 0) text = fmt::format("{} evaluations", budget.evaluations);
  if (budget.seconds > 0) {
    text += fmt::format("{}{} s", text.empty() ? "" : " or ", budget.seconds);
  }
  return text;
}

struct SearchAnswer {
  std::vector<PlanRun> runs;
  std::optional<SearchExplanation> explanation;  // of the best run
  std::optional<Ties> ties;      // of the plans that are shown, if there are several
  std::vector<Remedy> remedies;  // if no plan fits
  double explained_s = 0;
  bool is_interrupted = false;  // by Ctrl-C or the like
};

// Whether this process is the one that answers: it has no team, or is rank 0.
bool IsFirst(const Team* team) { return team == nullptr || team->rank() == 0; }

// Compares the plans that are shown, or looks for what would make one fit if there is none.
void JudgePlans(const SearchJob& job, const SearchProblem& problem, Team* team,
                SearchAnswer& answer) {
  const SearchResult& result = BestRun(answer.runs).result;
  if (job.wants_pareto || answer.is_interrupted) return;
  // Only rank 0 says what it finds.
  if (result.plans.size() > 1 && IsFirst(team)) {
    const size_t count = std::min(result.plans.size(), kMostCompared);
    answer.ties = FindTies(
        problem, {result.plans.begin(), result.plans.begin() + static_cast<ptrdiff_t>(count)});
  }
  // Without a bound, the search ended because it had looked at everything.
  const bool is_whole = result.bound <= 0 || result.is_optimal;
  if (result.plans.empty() && result.refusal.empty() && is_whole && job.wants_explanation) {
    answer.remedies = FindRemedies(problem, team);
  }
}

// Returns a function that shows the progress of several searches, one after another; the rate is
// that of the current one.
std::function<void(const SearchProgress&)> ReportTo(ProgressLine& progress,
                                                    const SearchProblem& problem) {
  struct Current {
    std::optional<Stopwatch> watch = Stopwatch();
    int64_t evaluated = 0;
  };
  return [&, current = std::make_shared<Current>()](const SearchProgress& now) {
    if (now.evaluated < current->evaluated) current->watch.emplace();  // the next search
    current->evaluated = now.evaluated;
    progress.Show(SearchProgressText(problem, now, current->watch->Seconds()));
  };
}

SearchAnswer Answer(const SearchJob& job, const SearchProblem& problem, Team* team,
                    ProgressLine& progress) {
  PlanSearchOptions options = job.options;
  options.search.report = ReportTo(progress, problem);
  const InterruptCatcher catcher;
  options.search.budget.stop = InterruptCatcher::flag();
  options.search.budget.team = team;
  const std::unique_ptr<PlanSpace> plans = MakePlanSpace(problem);
  const std::unique_ptr<PlanSpace> space = RememberBounds(*plans);
  SearchAnswer answer;
  answer.runs = SearchAsAsked(job, problem, *space, options);
  progress.Clear();
  const PlanRun& run = BestRun(answer.runs);
  if (job.wants_explanation && !run.result.plans.empty()) {
    const Stopwatch watch;
    // The first of several runs is the one whose plans are in the plan space.
    answer.explanation =
        ExplainSearch(problem, *space, run.result.plans, answer.runs[0].result.seen,
                      LeftOf(options.search.budget, answer.runs));
    answer.explained_s = watch.Seconds();
  }
  answer.is_interrupted = InterruptCatcher::was_interrupted();
  if (team != nullptr) answer.is_interrupted = AnySays(*team, answer.is_interrupted);
  if (!job.wants_pareto) {
    for (PlanRun& one : answer.runs) {
      if (one.result.plans.size() > static_cast<size_t>(job.shown)) {
        one.result.plans.resize(job.shown);
      }
    }
  }
  return answer;
}

nlohmann::ordered_json AnswerToJson(const SearchJob& job, const SearchProblem& problem,
                                    const SearchAnswer& answer) {
  const PlanRun& best = BestRun(answer.runs);
  nlohmann::ordered_json json = job.wants_pareto
                                    ? ParetoToJson(problem, job.cost, job.margin, best)
                                    : SearchToJson(problem, job.cost, job.margin, best);
  if (!best.result.plans.empty()) {
    json["placement"] = PlacementToJson(best.result.plans[0].plan, problem.cluster);
  }
  if (job.wants_pareto) return json;
  if (answer.ties) json["tie"] = TiesToJson(*answer.ties);
  if (best.result.plans.empty()) json["remedies"] = RemediesToJson(answer.remedies);
  if (job.goes_beyond) json["within"] = WithinToJson(problem, answer.runs[0].result);
  if (answer.runs.size() > 1 && job.goes_beyond) {
    json["beyond"] = BeyondToJson(problem, answer.runs);
  }
  if (job.compares) {
    json.update(
        ComparisonToJson(CompareRuns(problem, answer.runs, BudgetText(job.options.search.budget))));
  }
  if (answer.explanation) {
    json["explanation"] =
        ExplanationToJson(problem, best.result, *answer.explanation, answer.explained_s);
  }
  return json;
}

// Writes the page of the answer, with the passes of the first plan.
void WritePage(const std::string& page, const SearchJob& job, const SearchProblem& problem,
               const SearchAnswer& answer, const nlohmann::ordered_json& report) {
  const std::vector<RankedPlan>& plans = BestRun(answer.runs).result.plans;
  std::optional<SimulatedStep> step;
  std::vector<ShownStep> shown;
  if (!plans.empty()) {
    step = SimulateStep(plans[0].plan, problem.workload, problem.cluster, problem.model,
                        {.framework = job.memory});
    shown.push_back({&step->schedule, &step->timeline});
  }
  WriteFileAtomically(page, AnswerPage(report, shown, "search"));
}

void PrintAnswer(const SearchJob& job, const SearchProblem& problem, const SearchAnswer& answer,
                 std::ostream& out) {
  const PlanRun& best = BestRun(answer.runs);
  if (job.wants_pareto) return PrintPareto(problem, job.cost, job.margin, best, out);
  PrintSearch(problem, job.cost, job.margin, best, out);
  if (!answer.remedies.empty()) {
    fmt::print(out, "a plan would fit with {}\n", RemediesText(answer.remedies));
  }
  if (job.goes_beyond) PrintBeyond(answer.runs, out);
  if (answer.ties) PrintTies(*answer.ties, out);
  if (job.compares) {
    out << '\n';
    PrintComparison(CompareRuns(problem, answer.runs, BudgetText(job.options.search.budget)), out);
  }
  if (answer.explanation) {
    PrintExplanation(problem, best.result, *answer.explanation, answer.explained_s, out);
  }
}

// Returns what the answer assumes, and what is unusual about the best plan.
std::vector<std::string> Warnings(const SearchJob& job, const SearchProblem& problem,
                                  const SearchResult& result) {
  std::vector<std::string> warnings = job.warnings;
  if (result.plans.empty()) return warnings;
  const Evaluation& best = result.plans[0].evaluation;
  for (std::string& warning : UseWarnings(best, job.workload)) {
    warnings.push_back(std::move(warning));
  }
  for (std::string& note : EdgeNotes(problem, result.plans[0].plan)) {
    warnings.push_back(std::move(note));
  }
  if (job.cost.tokens > 0) warnings.push_back(EnergyNote(job.cost.rates, job.cluster, best));
  return warnings;
}

// Returns the format of the file that starts a plan in the framework of --for; null if none is
// asked for.
const TrainingExport::Format* LaunchFormat(const SearchJob& job, const std::string& file) {
  if (file.empty()) return nullptr;
  if (job.framework == nullptr) {
    throw InputError("--launch: got it without --for, want the framework that is to run the plan");
  }
  const TrainingExport::Format* const format = TrainingExport::FindFor(job.framework->id);
  if (format == nullptr) {
    throw InputError("--launch: " + job.framework->title +
                     " is started by code, which is not written; want another --for, or -o");
  }
  TrainingExport::CheckPath(*format, "--launch", file);
  return format;
}

// Returns the plan of --pick. Precondition: there are plans.
const Plan& PickedPlan(const SearchJob& job, const SearchResult& result) {
  if (result.plans.size() >= static_cast<size_t>(job.picked)) {
    return result.plans[job.picked - 1].plan;
  }
  throw InputError(fmt::format("--pick: got {}, but the search found {} plans", job.picked,
                               result.plans.size()));
}

// The files to which the best plan is written; one without a name is not written.
struct PlanFiles {
  std::string plan, launch;
  const TrainingExport::Format* format = nullptr;  // of the launch file
  std::string model;                               // as --model names it
};

// Writes the files, all or none if the plan cannot be put into one. Returns what the launch file
// leaves open.
std::vector<std::string> WritePlan(const PlanFiles& files, const SearchJob& job,
                                   const SearchResult& result, bool quiet, std::ostream& err) {
  if (files.plan.empty() && files.launch.empty()) return {};
  const Plan& picked = PickedPlan(job, result);
  LaunchText launch;
  if (!files.launch.empty()) {
    launch = TrainingExport::Write(*files.format, picked, job.workload, job.cluster, files.model,
                                   files.launch);
  }
  if (!files.plan.empty()) {
    const std::string extension = std::filesystem::path(files.plan).extension().string();
    WriteFileAtomically(files.plan,
                        ProtoText(ToShortProto(picked, job.workload, job.cluster), extension));
  }
  if (!files.launch.empty()) WriteFileAtomically(files.launch, launch.text);
  for (const std::string& file : {files.plan, files.launch}) {
    if (!quiet && !file.empty()) err << "wrote " << file << '\n';
  }
  return launch.notes;
}

// The verb on one rank of a team, or alone.
int Search(const Args& args, Team* team, std::ostream& out, std::ostream& err) {
  if (IsFirst(team)) CheckOutputFiles(args);
  Flags flags("search", "Finds the best plans for training a network on a cluster.");
  flags.AddExample(
      "search --model llama3-70b --cluster h100-sxm:8x8 --global-batch 512 --seq 8192 --top 3 -o "
      "best.yaml");
  flags.AddExample(
      "search --model llama2-13b --cluster h100-sxm:2x8+a100-sxm4-80gb:2x8 --global-batch 256 "
      "--seq 4096 --objective cost --price h100-sxm=2.5,a100-sxm4-80gb=1.3");
  SearchFlags search;
  CostModelFlag cost_model;
  std::string plan_file, launch_file, page;
  bool json = false, quiet = false;
  search.Register(flags);
  cost_model.Register(flags);
  flags.In(FlagTopic::kOutput)
      .Add("-o,--output", plan_file,
           {"<file>",
            "Write the best plan, or that of --pick, to a .yaml, .json or .textproto file, for "
            "--plan."})
      .Common();
  flags.In(FlagTopic::kOutput)
      .Add("--launch", launch_file,
           {"<file>",
            "With --for: also write what starts this plan in the framework, as export does: a .sh "
            "for megatron-core, .yaml for megatron-bridge, .toml or .sh for torchtitan, .json for "
            "deepspeed."});
  flags.In(FlagTopic::kOutput)
      .Add("--report", page,
           {"<file.html>", "Write a page with charts of the plans and of what was found when."});
  flags.AddReporting(json, quiet);
  if (flags.Parse(args, out)) return kExitOk;

  if (!plan_file.empty()) CheckProtoTextPath("-o", plan_file);
  if (!page.empty() && IsFirst(team)) CheckOutputPath("--report", page, {".html"});
  const SearchJob job = search.Build();
  const TrainingExport::Format* const launch = LaunchFormat(job, launch_file);
  const std::unique_ptr<CostModel> model = cost_model.Load();
  const MemoModel memo(*model);
  const SearchProblem problem = job.Problem(memo);
  const std::vector<std::string> errors = FindErrors(problem);
  if (!errors.empty()) throw InputError(errors[0]);

  ProgressLine progress(err, quiet);
  SearchAnswer answer = Answer(job, problem, team, progress);
  JudgePlans(job, problem, team, answer);
  if (!IsFirst(team)) return kExitOk;
  CheckPlans(job.Problem(*model), answer.runs);
  const SearchResult& result = BestRun(answer.runs).result;
  if (!result.refusal.empty()) throw InputError(result.refusal);

  std::vector<std::string> warnings = Warnings(job, problem, result);
  if (!result.plans.empty()) {
    const PlanFiles files{plan_file, launch_file, launch, search.model()};
    for (std::string& note : WritePlan(files, job, result, quiet, err)) {
      warnings.push_back(std::move(note));
    }
  }
  nlohmann::ordered_json report;
  if (json || !page.empty()) {
    Args files = job.files;
    for (const std::string& file : cost_model.files()) files.push_back(file);
    report = ReportHeader("search", kSchema, files);
    report["cost_model"] = cost_model.name();
    report["seed"] = job.options.seed;
    report.update(AnswerToJson(job, problem, answer));
    report["interrupted"] = answer.is_interrupted;
    report["warnings"] = warnings;
  }
  if (!page.empty()) {
    WritePage(page, job, problem, answer, report);
    if (!quiet) err << "wrote " << page << '\n';
  }
  if (json) {
    PrintJson(std::move(report), out);
  } else {
    PrintAnswer(job, problem, answer, out);
    for (const std::string& warning : warnings) {
      fmt::print(out, "note: {}\n", warning);
    }
  }
  if (answer.is_interrupted) return kExitInterrupted;
  return result.plans.empty() ? kExitInfeasible : kExitOk;
}

}  // namespace

int RunSearch(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  return RunOnRanks(args, out, err, [&](Team* team, std::ostream& own_out, std::ostream& own_err) {
    return Search(args, team, own_out, own_err);
  });
}

}  // namespace stagecraft
