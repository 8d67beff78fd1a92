// train: a training run over time, on a network that changes and a cluster that fails.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/memo_model.h"
#include "costmodel/proto_file.h"
#include "costmodel/random.h"
#include "search/balance/layer_partition.h"
#include "search/training/trained_states.h"
#include "search/training/training_run.h"
#include "sim/job/history_output.h"
#include "sim/job/job_run.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/network_flags.h"
#include "tools/flags/plan_flags.h"
#include "tools/train/train_flags.h"
#include "tools/train/train_page.h"
#include "tools/train/train_report.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

struct Outputs {
  std::string history, report;
  bool json = false, quiet = false;
};

void Register(Flags& flags, Outputs& outputs) {
  FlagGroup group = flags.In(FlagTopic::kOutput);
  group.Add("--history", outputs.history,
            {"<file>", "Write every phase of the run, as .csv or .json."});
  group.Add("--report", outputs.report, {"<file.html>", "Write a page with charts of the run."});
  flags.AddReporting(outputs.json, outputs.quiet);
}

void CheckOutputs(const Outputs& outputs, const TrainRequest& request) {
  if (!outputs.history.empty() && !outputs.history.ends_with(".csv") &&
      !outputs.history.ends_with(".json")) {
    throw InputError(
        fmt::format("--history: got \"{}\", want a .csv or .json file", outputs.history));
  }
  if (!outputs.report.empty() && !outputs.report.ends_with(".html")) {
    throw InputError(fmt::format("--report: got \"{}\", want a .html file", outputs.report));
  }
  if (request.runs == 1) return;
  for (const auto& [file, flag] :
       {std::pair(outputs.history, "--history"), {outputs.report, "--report"}}) {
    if (file.empty()) continue;
    throw InputError(fmt::format("{}: got it with several --runs, want one history", flag));
  }
}

// Sums up a run without failures: each state lasts until the next one.
BalancerRow SumUp(std::string name, const TrainingJob& job,
                  const std::vector<TrainedState>& states) {
  BalancerRow row;
  row.name = std::move(name);
  row.fewest_devices = states.front().devices();
  for (size_t i = 0; i < states.size(); ++i) {
    const TrainedState& state = states[i];
    const int64_t end = i + 1 < states.size() ? states[i + 1].step : job.steps;
    const Duration time = (end - state.step) * state.evaluation.step_time + state.cost.Total();
    row.time += time;
    row.overhead += state.cost.Total();
    row.moves += state.moves ? 1 : 0;
    row.fewest_devices = std::min(row.fewest_devices, state.devices());
    row.gpu_hours += time.seconds() / 3600 * state.devices();
  }
  return row;
}

// The time-weighted mean of max / mean over the states of a run.
double BoundOf(const TrainingJob& job, const std::vector<TrainedState>& states) {
  double weighted = 0, whole = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    const int64_t end = i + 1 < states.size() ? states[i + 1].step : job.steps;
    const double steps = static_cast<double>(end - states[i].step);
    const double seconds = steps * states[i].evaluation.step_time.seconds();
    whole += seconds;
    weighted += seconds / states[i].Imbalance();
  }
  return whole / weighted;
}

BalancerComparison Compare(const TrainingJob& given) {
  BalancerComparison comparison;
  const auto add = [&](std::string name, const Plan& plan, Balancer balancer, LoadBasis by) {
    TrainingJob job = given;
    job.plan = plan;
    job.policy.balancer = balancer;
    job.policy.by = by;
    const std::vector<TrainedState> states = TrainStates(job);
    if (comparison.rows.empty()) comparison.bound = BoundOf(job, states);
    comparison.rows.push_back(SumUp(std::move(name), job, states));
  };
  add("nobody, as given", given.plan, Balancer::kNone, LoadBasis::kTrueTime);
  BalanceProblem by_parameters = {LayerParameters(given.workload),
                                  std::vector<double>(given.plan.stages.size(), 1.0)};
  if (const auto division = PartitionLayers(by_parameters)) {
    add("nobody, by parameters", WithDivision(given.plan, *division), Balancer::kNone,
        LoadBasis::kTrueTime);
  }
  for (const Balancer balancer : {Balancer::kPartition, Balancer::kDiffusion}) {
    for (const LoadBasis by :
         {LoadBasis::kParameters, LoadBasis::kMeasuredTime, LoadBasis::kTrueTime}) {
      add(fmt::format("{} by {}", NameOf(balancer), NameOf(by)), given.plan, balancer, by);
    }
  }
  return comparison;
}

}  // namespace

int RunTrain(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags flags("train",
              "Simulates a training run over time: a network that is pruned, frozen or routed, a "
              "cluster that slows down and fails, and what balancers and checkpoints do about it.");
  PlanFlags plan;
  NetworkFlags network;
  CostModelFlag cost_model;
  TrainFlags train;
  Outputs outputs;
  plan.Register(flags);
  network.Register(flags);
  cost_model.Register(flags);
  train.Register(flags);
  Register(flags, outputs);
  if (flags.Parse(args, out)) return kExitOk;

  PlannedJob job = plan.Build();
  job.network = network.Build(job.cluster);
  const TrainRequest request = train.Build(job);
  CheckOutputs(outputs, request);
  job.warnings.insert(job.warnings.end(), request.warnings.begin(), request.warnings.end());
  const std::unique_ptr<CostModel> loaded = cost_model.Load();
  const MemoModel model(*loaded);
  const TrainingJob training = {.workload = job.workload,
                                .cluster = job.cluster,
                                .model = model,
                                .plan = job.plan,
                                .options = {.network = job.network, .framework = job.memory},
                                .steps = request.steps,
                                .changes = request.changes,
                                .policy = request.policy,
                                .seed = request.seed};
  TrainAnswer answer;
  if (request.compares_balancers) answer.comparison = Compare(training);
  const SimulatedTraining run(training, TrainStates(training), request.conditions);
  answer.states = run.states();
  std::string stopped;
  if (request.runs > 1) {
    answer.summary = Summarise(SimulateRuns(run.spec(), request.runs, Random(request.seed)));
  } else {
    answer.history.emplace();
    try {
      SimulateRun(run.spec(), Random(request.seed), &*answer.history);
    } catch (const RunCannotContinue& error) {
      stopped = error.what();
    }
  }
  if (!outputs.history.empty()) {
    const bool is_csv = outputs.history.ends_with(".csv");
    WriteFileAtomically(outputs.history,
                        is_csv ? HistoryCsv(*answer.history) : HistoryJson(*answer.history));
  }
  if (!outputs.report.empty()) {
    WriteFileAtomically(outputs.report, TrainPage(job, request, answer));
  }
  if (!outputs.quiet) {
    for (const std::string& file : {outputs.history, outputs.report}) {
      if (!file.empty()) err << "wrote " << file << '\n';
    }
  }
  if (outputs.json) {
    Args files = job.files;
    for (const std::string& file : cost_model.files()) files.push_back(file);
    for (const std::string& file : request.files) files.push_back(file);
    nlohmann::ordered_json report = ReportHeader("train", kSchema, files);
    report["cost_model"] = cost_model.name();
    report["seed"] = request.seed;
    report.update(TrainToJson(job, request, answer));
    PrintJson(std::move(report), out);
  } else {
    PrintTrain(job, request, answer, out);
  }
  if (stopped.empty()) return kExitOk;
  err << "stagecraft train: " << stopped << '\n';
  return kExitInfeasible;
}

}  // namespace stagecraft
