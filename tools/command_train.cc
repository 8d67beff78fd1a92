// train: a training run over time, on a network that changes and a cluster that fails.
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "costmodel/cost_model.h"
#include "costmodel/memo_model.h"
#include "search/training/job.h"
#include "sim/job/job_run.h"
#include "tools/flags/cost_flags.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/network_flags.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/planned_job.h"
#include "tools/report/training_cost_report.h"
#include "tools/train/train_answer.h"
#include "tools/train/train_flags.h"
#include "tools/train/train_outputs.h"
#include "tools/train/train_report.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

struct VerbFlags {
  PlanFlags plan;
  NetworkFlags network;
  CostModelFlag cost_model;
  CostFlags cost;
  TrainFlags train;
  TrainOutputs outputs;

  void Register(Flags& flags) {
    plan.MayTakeFromFile();
    plan.Register(flags);
    network.Register(flags);
    cost_model.Register(flags);
    cost.Register(flags, /*is_common=*/false);
    train.Register(flags);
    outputs.Register(flags);
  }
};

Job JobOf(const PlannedJob& planned, const TrainRequest& request, const CostModel& model) {
  return {.workload = planned.workload,
          .cluster = planned.cluster,
          .model = model,
          .plan = planned.plan,
          .options = {.network = planned.network, .framework = planned.memory},
          .steps = request.steps,
          .changes = request.changes,
          .balance = request.balance,
          .conditions = request.conditions,
          .seed = request.seed};
}

nlohmann::ordered_json ReportOf(const PlannedJob& planned, const TrainRequest& request,
                                const CostModelFlag& cost_model, const TrainAnswer& answer) {
  Args files = planned.files;
  for (const std::string& file : cost_model.files()) files.push_back(file);
  for (const std::string& file : request.files) files.push_back(file);
  nlohmann::ordered_json report = ReportHeader("train", kSchema, files);
  report["cost_model"] = cost_model.name();
  report["seed"] = request.seed;
  report.update(TrainToJson(planned, request, answer));
  return report;
}

// Returns the exit code of a run that has ended. Throws what the user, or we, did wrong.
int ExitCode(const std::exception_ptr& failure, std::ostream& err) {
  if (failure == nullptr) return kExitOk;
  try {
    std::rethrow_exception(failure);
  } catch (const RunCannotContinue& error) {
    err << "stagecraft train: " << error.what() << '\n';
    return kExitInfeasible;
  }
}

}  // namespace

int RunTrain(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags flags("train",
              "Simulates a training run over time: a network that is pruned, frozen or routed, a "
              "cluster that slows down and fails, and what balancers and checkpoints do about it.");
  VerbFlags verb;
  verb.Register(flags);
  if (flags.Parse(args, out)) return kExitOk;

  verb.train.ReadJob(verb.plan, flags.IsGiven("--tokens"));
  PlannedJob planned = verb.plan.Build();
  planned.network = verb.network.Build(planned.cluster);
  planned.cost = verb.cost.Build(planned.cluster, /*has_run=*/true);
  const TrainRequest request = verb.train.Build(planned);
  planned.warnings.insert(planned.warnings.end(), request.warnings.begin(), request.warnings.end());
  verb.outputs.Check(request.runs);

  const std::unique_ptr<CostModel> loaded = verb.cost_model.Load();
  const MemoModel model(*loaded);
  const Job job = JobOf(planned, request, model);
  const TrainAnswer answer = Train(job, request.runs, request.compares_balancers);
  if (planned.cost.IsAsked()) {
    planned.warnings.push_back(
        EnergyNote(planned.cost.rates, planned.cluster, answer.states.front().evaluation));
  }

  verb.outputs.Write(planned, request, answer, err);
  if (verb.outputs.is_json()) {
    PrintJson(ReportOf(planned, request, verb.cost_model, answer), out);
  } else {
    PrintTrain(planned, request, answer, out);
  }
  return ExitCode(answer.failure, err);
}

}  // namespace stagecraft
