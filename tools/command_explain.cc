#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "sim/step/evaluation.h"
#include "sim/step/evaluation_errors.h"
#include "sim/step/mechanism.h"
#include "tools/flags/cost_flags.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/network_flags.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/sample_flags.h"
#include "tools/flags/slow_flag.h"
#include "tools/report/answer_page.h"
#include "tools/report/explanation.h"
#include "tools/report/explanation_difference.h"
#include "tools/report/explanation_text.h"
#include "tools/report/layer_state_report.h"
#include "tools/report/network_report.h"
#include "tools/report/slow_report.h"
#include "tools/report/training_cost_report.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;
constexpr size_t kMostPlans = 2;

// The flags of explain, parsed for one plan.
struct ExplainFlags {
  Flags flags{"explain",
              "Explains a training step: what it waits for from its beginning to its end, and why "
              "devices idle. Given two plans, it shows how they differ."};
  PlanFlags plan;
  NetworkFlags network;
  SlowFlag slow;
  CostModelFlag cost_model;
  CostFlags cost;
  std::string page;
  bool unfold = false, json = false, quiet = false;

  ExplainFlags() {
    flags.TakesFirst("[PLAN [PLAN]]");
    flags.AddExample("explain --model llama3-70b --cluster h100-sxm:8x8 --plan best.yaml");
    flags.AddExample(
        "explain \"--schedule 1f1b\" \"--vpp 5\" --model llama3-70b --cluster h100-sxm:8x8 --tp 8 "
        "--pp 4 --global-batch 128 --seq 8192");
    flags.AddNote(
        "PLAN is a plan file, or flags in quotes that are added to those of all plans. PLANs come "
        "before the flags.");
    plan.Register(flags);
    slow.Register(flags);
    network.Register(flags);
    cost_model.Register(flags);
    cost.Register(flags);
    FlagGroup group = flags.In(FlagTopic::kOutput);
    group
        .Add("--report", page,
             {"<file.html>", "Write a page with charts of the plans and of what they wait for."})
        .Common();
    flags.AddReporting(json, quiet);
    group.Add(
        "--unfold", unfold,
        {"", "Simulate every device; otherwise devices that do the same are simulated once."});
  }
  ExplainFlags(const ExplainFlags&) = delete;
};

bool IsQuotedFlags(const std::string& word) {
  return word.starts_with('-') && word.find(' ') != std::string::npos;
}

// Returns the words for which a PLAN stands: --plan with a file, or the flags in quotes.
Args WordsOf(const std::string& plan) {
  if (!IsQuotedFlags(plan)) return {"--plan", plan};
  Args words;
  std::istringstream text(plan);
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

// The words of a command line, on which plans come before the flags.
struct ExplainArgs {
  Args plans;  // a single empty one if none is given
  Args flags;  // of all plans
};

ExplainArgs SplitArgs(const Args& args) {
  size_t plans = 0;
  while (plans < args.size() && (!args[plans].starts_with('-') || IsQuotedFlags(args[plans]))) {
    ++plans;
  }
  ExplainArgs split{{args.begin(), args.begin() + static_cast<ptrdiff_t>(plans)},
                    {args.begin() + static_cast<ptrdiff_t>(plans), args.end()}};
  if (plans > kMostPlans) {
    throw InputError("PLAN: got " + std::to_string(plans) + " plans, want one or two");
  }
  for (const std::string& plan : split.plans) {
    if (plan.empty()) throw InputError("PLAN: got \"\", want a plan file or flags in quotes");
  }
  if (plans == 0) split.plans.emplace_back();
  return split;
}

Explanation ExplainPlan(const std::string& plan, const ExplainFlags& flags) {
  PlannedJob job = flags.plan.Build();
  if (IsAsynchronous(job.plan.schedule)) {
    throw InputError(std::string("--schedule: ") + Name(job.plan.schedule) +
                     " has no step with an end to explain; simulate shows its steady state");
  }
  flags.slow.Apply(job);
  job.network = flags.network.Build(job.cluster);
  job.cost = flags.cost.Build(job.cluster);
  const std::unique_ptr<CostModel> model = flags.cost_model.Load();
  for (const std::string& file : flags.cost_model.files()) job.files.push_back(file);
  const SimulationOptions options = {
      .unfold = flags.unfold, .network = job.network, .framework = job.memory};
  SimulatedStep step = SimulateStep(job.plan, job.workload, job.cluster, *model, options);
  RequireSound(step.evaluation, step.plan, job.workload, job.cluster);
  for (std::string& note : flags.cost_model.NotesOnNetworks(job.cluster)) {
    job.warnings.push_back(std::move(note));
  }
  for (std::string& warning : UseWarnings(step.evaluation, job.workload)) {
    job.warnings.push_back(std::move(warning));
  }
  for (std::string& note : SparseNotes(step.schedule)) job.warnings.push_back(std::move(note));
  for (std::string& warning : NetworkWarnings(step, job.cluster, job.network)) {
    job.warnings.push_back(std::move(warning));
  }
  for (std::string& warning : SlowWarnings(step, job)) job.warnings.push_back(std::move(warning));
  if (job.cost.tokens > 0) {
    job.warnings.push_back(EnergyNote(job.cost.rates, job.cluster, step.evaluation));
  }
  std::vector<MechanismTime> mechanisms = MeasureMechanisms(
      job.plan, job.workload, job.cluster, *model, step.evaluation.step_time, options);
  Explanation explanation = Explain(std::move(job), std::move(step));
  explanation.mechanisms = std::move(mechanisms);
  explanation.label = plan;
  explanation.cost_model = flags.cost_model.name();
  return explanation;
}

nlohmann::ordered_json Report(const std::vector<Explanation>& explanations) {
  Args files;
  nlohmann::ordered_json plans = nlohmann::ordered_json::array();
  for (const Explanation& explanation : explanations) {
    for (const std::string& file : explanation.job.files) {
      if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    }
    plans.push_back(ToJson(explanation));
  }
  nlohmann::ordered_json report = ReportHeader("explain", kSchema, files);
  report["seed"] = 0;  // nothing is drawn at random
  report["plans"] = std::move(plans);
  if (explanations.size() == kMostPlans) {
    report["difference"] = DifferenceToJson(explanations[0], explanations[1]);
  }
  return report;
}

void WritePage(const std::string& page, const nlohmann::ordered_json& report,
               const std::vector<Explanation>& explanations) {
  std::vector<ShownStep> steps;
  for (const Explanation& explanation : explanations) {
    steps.push_back({&explanation.step.schedule, &explanation.step.timeline});
  }
  WriteFileAtomically(page, AnswerPage(report, steps, "explain"));
}

}  // namespace

int RunExplain(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  const ExplainArgs split = SplitArgs(args);
  std::vector<Explanation> explanations;
  std::string page;
  bool json = false, quiet = false;
  for (const std::string& plan : split.plans) {
    ExplainFlags flags;
    Args words = plan.empty() ? Args() : WordsOf(plan);
    words.insert(words.end(), split.flags.begin(), split.flags.end());
    if (flags.flags.Parse(words, out)) return kExitOk;
    if (!flags.page.empty()) CheckOutputPath("--report", flags.page, {".html"});
    page = flags.page;
    json = flags.json;
    quiet = flags.quiet;
    explanations.push_back(ExplainPlan(plan, flags));
  }
  if (!page.empty()) {
    WritePage(page, Report(explanations), explanations);
    if (!quiet) err << "wrote " << page << '\n';
  }
  if (json) {
    PrintJson(Report(explanations), out);
  } else if (explanations.size() == 1) {
    PrintExplanation(explanations[0], out);
  } else {
    PrintDifference(explanations[0], explanations[1], out);
  }
  return kExitOk;
}

}  // namespace stagecraft
