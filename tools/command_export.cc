// export: writes what a plan decides to files that other programs read, or start.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "sim/lowering/lowering.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/pipeline/pytorch_csv.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/plan_degrees.h"
#include "sim/plan/plan_proto.h"
#include "sim/step/plan_pass_orders.h"
#include "tools/export_kineto.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/plan_flags.h"
#include "tools/frameworks/training_export.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/proto_text.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

// Returns the passes of one replica, by stage. Throws InputError if not all replicas run the same.
PassOrders OrdersToExport(const Plan& plan) {
  const int micro_batches = ReplicaMicroBatches(plan, 0, 0);
  bool are_same = HasSeparatePipelines(plan);
  for (int replica = 1; are_same && replica < static_cast<int>(plan.stages[0].replicas.size());
       ++replica) {
    are_same = ReplicaMicroBatches(plan, 0, replica) == micro_batches;
  }
  if (are_same) return PassOrdersOf(plan, 0);
  throw InputError(
      "export: got replicas that run different schedules, want the same number of replicas in "
      "every stage and of micro-batches in each");
}

std::string ScheduleCsv(const Plan& plan) {
  if (plan.forward_only) {
    throw InputError("--forward-only: got it with schedule-csv, want forwards and backwards");
  }
  if (IsAsynchronous(plan.schedule)) {
    throw InputError(fmt::format(
        "--schedule: got {} with schedule-csv, whose passes never end; want a schedule that "
        "flushes, or export plan",
        Name(plan.schedule)));
  }
  if (plan.SplitsVocabulary()) {
    throw InputError(fmt::format(
        "--embedding-placement: got {} with schedule-csv, which has no passes for the vocabulary; "
        "want first-last, or export plan",
        Name(plan.schedule_options.vocabulary)));
  }
  return WritePytorchCsv(MapOf(plan), plan.orders, ReplicaMicroBatches(plan, 0, 0));
}

void CheckCsvPath(const std::string& flag, const std::string& path) {
  if (path.ends_with(".csv")) return;
  throw InputError(fmt::format("{}: got \"{}\", want a .csv file", flag, path));
}

// The formats that are not those of training frameworks (TrainingExport).
constexpr const char* kScheduleCsv = "schedule-csv";
constexpr const char* kPlan = "plan";

// Whether only the name of a schedule can describe its passes: they never end, or are among those
// of a split vocabulary.
bool NeedsName(const Plan& plan) {
  return IsAsynchronous(plan.schedule) || plan.SplitsVocabulary();
}

// Returns the plan with the passes of every stage spelled out, as a custom schedule, unless its
// schedule needs its name.
Plan SpelledOut(const PlannedJob& job, const CostModel& model) {
  if (NeedsName(job.plan)) return job.plan;
  Plan plan = WithPassOrders(job.plan, job.workload, job.cluster, model, job.memory);
  plan.orders = OrdersToExport(plan);
  plan.placement = MapOf(plan).placement();
  plan.schedule = PipelineSchedule::kCustom;
  plan.schedule_options = {};
  plan.schedule_options.pairs_passes = job.plan.schedule_options.pairs_passes;
  return plan;
}

// Returns what was written, by key of the JSON report. `plan` has its passes if it was spelled out.
nlohmann::ordered_json Contents(const PlannedJob& job, const Plan& plan, const std::string& path) {
  nlohmann::ordered_json contents = {{"output", path},
                                     {"order", Name(job.plan.schedule)},
                                     {"stages", plan.stages.size()},
                                     {"chunks", plan.chunk_count()}};
  if (NeedsName(plan)) {
    contents["micro_batches"] = plan.micro_batches();  // of a global batch, on all replicas
    return contents;
  }
  size_t passes = 0;
  for (const PassOrder& order : plan.orders) passes += order.size();
  contents["micro_batches"] = ReplicaMicroBatches(plan, 0, 0);
  if (passes > 0) contents["passes"] = passes;
  return contents;
}

void Print(const nlohmann::ordered_json& contents, std::ostream& out) {
  out << fmt::format("{}: {}, {} stages of {} chunk{}, {} micro-batches{}\n",
                     contents["output"].get<std::string>(), contents["order"].get<std::string>(),
                     contents["stages"].get<int>(), contents["chunks"].get<int>(),
                     contents["chunks"] == 1 ? "" : "s", contents["micro_batches"].get<int64_t>(),
                     contents.contains("passes")
                         ? fmt::format(", {} passes", contents["passes"].get<int64_t>())
                         : "");
}

struct ExportFlags {
  std::string format, path;
  bool spells_out = false;
  bool json = false, quiet = false;  // quiet is accepted, though there is nothing to suppress
};

void Register(Flags& flags, ExportFlags& values) {
  flags.AddExample(
      "export schedule-csv --model gpt2-medium --cluster h100-sxm:1x4 --pp 4 --global-batch 16 "
      "--seq 512 --schedule zb-v -o zb_v.csv");
  flags.AddExample(
      "export plan --model llama3-8b --cluster h100-sxm:1x8 --pp 4 --vpp 2 --global-batch 64 --seq "
      "8192 -o plan.yaml");
  flags.AddExample(
      "export megatron --model llama3-8b --cluster h100-sxm:1x8 --tp 2 --pp 4 --vpp 2 "
      "--global-batch 64 --seq 8192 -o train.sh");
  Args names = {kPlan, kScheduleCsv};
  for (const TrainingExport::Format& one : TrainingExport::Formats()) names.emplace_back(one.name);
  flags.In(FlagTopic::kInput)
      .Add("FORMAT", values.format, {"", "What to write (below)."})
      .OneOf(names)
      .Required()
      .Common();
  flags.In(FlagTopic::kOutput)
      .Add("-o,--output", values.path,
           {"<file>",
            "The file to write, whole or not at all: a .csv for schedule-csv, a .yaml, .json or "
            ".textproto for plan, and what the others take."})
      .Required()
      .Common();
  flags.In(FlagTopic::kOutput)
      .Add("--spell-out", values.spells_out,
           {"",
            "With plan: list the layers and devices of every stage, and its passes in order, also "
            "where degrees and the name of a schedule say the same."});
  flags.AddNote("Formats:");
  flags.AddTerm(kScheduleCsv,
                "the passes of every stage, as PyTorch's pipelining reads them "
                "(pipeline_parallel_schedule_csv of torchtitan); --order-file reads them, too");
  flags.AddTerm("kineto",
                "a timeline as a trace of PyTorch's profiler: export kineto measured.pb -o "
                "measured.json (export kineto --help)");
  flags.AddTerm(kPlan, "the plan, for --plan: its degrees if they make it, else its stages");
  for (const TrainingExport::Format& one : TrainingExport::Formats()) {
    flags.AddTerm(one.name, one.writes);
  }
}

// Writes the file of a training framework, and says what it does not.
void ExportTraining(const TrainingExport::Format& format, const PlanFlags& plan_flags,
                    const std::string& path, bool as_json, std::ostream& out) {
  TrainingExport::CheckPath(format, "-o", path);
  const PlannedJob job = plan_flags.Build();
  const LaunchText launch =
      TrainingExport::Write(format, job.plan, job.workload, job.cluster, plan_flags.model(), path);
  WriteFileAtomically(path, launch.text);
  if (!as_json) {
    out << fmt::format("{}: {}\n", path, format.writes);
    for (const std::string& note : launch.notes) out << "  note: " << note << '\n';
    return;
  }
  nlohmann::ordered_json report = ReportHeader("export", kSchema, job.files);
  report["seed"] = 0;  // nothing is drawn at random
  report["format"] = format.name;
  report["output"] = path;
  report["notes"] = launch.notes;
  PrintJson(std::move(report), out);
}

// Writes the plan, or the passes of its schedule, and says what was written.
void ExportPlan(const ExportFlags& values, const PlanFlags& plan_flags,
                const CostModelFlag& cost_model, std::ostream& out) {
  const bool is_csv = values.format == kScheduleCsv;
  if (is_csv && values.spells_out) {
    throw InputError("--spell-out: got it with schedule-csv, which always lists passes");
  }
  is_csv ? CheckCsvPath("-o", values.path) : CheckProtoTextPath("-o", values.path);
  const PlannedJob job = plan_flags.Build();
  const std::unique_ptr<CostModel> model = cost_model.Load();
  const Plan plan = is_csv || values.spells_out ? SpelledOut(job, *model) : job.plan;
  const std::string extension = std::filesystem::path(values.path).extension().string();
  WriteFileAtomically(
      values.path,
      is_csv ? ScheduleCsv(plan)
             : ProtoText(values.spells_out ? ToProto(plan)
                                           : ToShortProto(plan, job.workload, job.cluster),
                         extension));
  const nlohmann::ordered_json contents = Contents(job, plan, values.path);
  if (!values.json) {
    Print(contents, out);
    return;
  }
  Args files = job.files;
  for (const std::string& file : cost_model.files()) files.push_back(file);
  nlohmann::ordered_json report = ReportHeader("export", kSchema, files);
  report["seed"] = 0;  // nothing is drawn at random
  report["format"] = values.format;
  report.update(contents);
  PrintJson(std::move(report), out);
}

}  // namespace

int RunExport(const Args& args, std::istream&, std::ostream& out, std::ostream&) {
  if (!args.empty() && args[0] == "kineto") {
    return RunExportKineto(Args(args.begin() + 1, args.end()), out);
  }
  Flags flags("export",
              "Writes the pipeline schedule of a plan for other programs, the whole plan, or what "
              "starts it in a training framework.");
  ExportFlags values;
  PlanFlags plan_flags;
  CostModelFlag cost_model;
  Register(flags, values);
  plan_flags.Register(flags);
  cost_model.Register(flags);
  flags.AddReporting(values.json, values.quiet);
  if (flags.Parse(args, out)) return kExitOk;

  if (const TrainingExport::Format* const training = TrainingExport::Find(values.format)) {
    if (values.spells_out) throw InputError("--spell-out: got it without plan, want export plan");
    ExportTraining(*training, plan_flags, values.path, values.json, out);
  } else {
    ExportPlan(values, plan_flags, cost_model, out);
  }
  return kExitOk;
}

}  // namespace stagecraft
