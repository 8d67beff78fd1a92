#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "costmodel/proto_file.h"
#include "proto/timeline.pb.h"
#include "sim/engine/bound_costs.h"
#include "sim/engine/repeated_tasks.h"
#include "sim/memory/memory_curve.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"
#include "sim/schedule/timeline_record_proto.h"
#include "sim/step/evaluation.h"
#include "sim/step/evaluation_errors.h"
#include "tools/flags/cost_flags.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/network_flags.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/sample_flags.h"
#include "tools/flags/slow_flag.h"
#include "tools/report/answer_page.h"
#include "tools/report/layer_state_report.h"
#include "tools/report/measured_step.h"
#include "tools/report/network_report.h"
#include "tools/report/slow_report.h"
#include "tools/report/steady_report.h"
#include "tools/report/step_report.h"
#include "tools/report/training_cost_report.h"
#include "tools/trace/trace_file.h"
#include "tools/trace/trace_view.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

struct Outputs {
  std::string trace, timeline, measured, page;
  bool json = false, quiet = false, unfold = false;

  // Whether one of them shows each task of the step.
  bool ShowTasks() const { return !trace.empty() || !timeline.empty() || !page.empty(); }
};

void RegisterOutputs(Flags& flags, Outputs& outputs) {
  flags.AddExample(
      "simulate --model llama3-70b --cluster h100-sxm:8x8 --tp 8 --pp 4 --micro-batch 1 "
      "--global-batch 512 --seq 8192 --trace step.pftrace");
  flags.AddExample(
      "simulate --model config.json --cluster dgx-a100:4+dgx-1v:4 --tp 8 --pp 8 --global-batch 256 "
      "--seq 2048 --precision fp16 --json");
  FlagGroup group = flags.In(FlagTopic::kOutput);
  group
      .Add("--trace", outputs.trace,
           {"<file>", "Write a trace, as .pftrace for Perfetto or as .json for Chrome."})
      .Common();
  group
      .Add("--report", outputs.page,
           {"<file.html>", "Write a page with charts of the plan, its passes, time and memory."})
      .Common();
  flags.AddReporting(outputs.json, outputs.quiet);
  group.Add("--timeline", outputs.timeline,
            {"<file.pb>", "Write schedule and timeline to a file, for compare."});
  group.Add(
      "--measured", outputs.measured,
      {"<time>",
       "The time of a step that you measured, such as 1.23s or 850ms: says whether it is within "
       "the prediction's interval, and what would explain the difference."});
  group.Add("--unfold", outputs.unfold,
            {"", "Simulate every device; otherwise devices that do the same are simulated once."});
}

// Throws InputError for outputs that cannot be written, before anything is simulated.
void CheckOutputs(const Outputs& outputs) {
  if (!outputs.trace.empty()) CheckTraceFile("--trace", outputs.trace);
  if (!outputs.timeline.empty() && !outputs.timeline.ends_with(".pb")) {
    throw InputError("--timeline: got \"" + outputs.timeline + "\", want a .pb file");
  }
  if (!outputs.page.empty()) CheckOutputPath("--report", outputs.page, {".html"});
}

std::string RankName(const PlannedJob& job, const RankInfo& rank) {
  std::string name = "stage " + std::to_string(rank.stage) + " rank " +
                     std::to_string(rank.device) + " " + job.cluster.DeviceName(rank.device) + " " +
                     job.cluster.device(rank.device).id;
  if (rank.multiplicity > 1) name += " (1 of " + std::to_string(rank.multiplicity) + " alike)";
  return name;
}

OpTimes OpTimesOf(const BoundCosts& costs) {
  OpTimes times{.by_device = {}, .device_of_rank = costs.device_of_rank};
  for (const std::vector<Estimate>& estimates : costs.estimates) {
    std::vector<Duration>& by_op = times.by_device.emplace_back();
    for (const Estimate& estimate : estimates) by_op.push_back(estimate.time);
  }
  return times;
}

// Returns the memory of every rank: in detail as long as the trace shows the kernels, and from then
// on at the peak and the end of each pass.
std::vector<TraceInput::MemoryCurve> MemoryOf(const PlannedJob& job, const SimulatedStep& step,
                                              Duration ops_until) {
  const auto curves_of = [&](CurveDetail detail) {
    return MemoryOverTime(step.plan, job.workload, job.cluster, step.schedule, step.timeline,
                          job.memory, detail);
  };
  std::vector<TraceInput::MemoryCurve> memory(step.schedule.ranks().size());
  const auto add = [&](CurveDetail detail, Duration from, Duration until) {
    const auto curves = curves_of(detail);
    for (size_t rank = 0; rank < memory.size(); ++rank) {
      for (const MemoryChange& change : curves[rank]) {
        const bool is_within =
            change.time >= from && (change.time < until || until == Duration::Max());
        if (is_within) memory[rank].push_back({change.time, change.used});
      }
    }
  };
  if (ops_until > Duration()) add(CurveDetail::kOperators, Duration(), ops_until);
  if (ops_until < Duration::Max()) add(CurveDetail::kPasses, ops_until, Duration::Max());
  return memory;
}

TraceView ViewOf(const PlannedJob& job, const SimulatedStep& step) {
  TraceInput input{.schedule = step.schedule, .timeline = step.timeline};
  const OpTimes op_times = OpTimesOf(step.costs);
  input.op_times = &op_times;
  const std::vector<Launch> launches = BindLaunches(step.schedule, step.costs);
  input.launches = launches;
  input.title = job.workload.name + " on " + job.cluster.name();
  input.memory = MemoryOf(job, step, OpsUntil(input));
  for (const RankInfo& rank : step.schedule.ranks()) {
    input.rank_names.push_back(RankName(job, rank));
  }
  input.facts = {{"tool", "stagecraft"}, {"version", kToolVersion}};
  return MakeTraceView(input);
}

TimelineRecord RecordOf(const PlannedJob& job, SimulatedStep step) {
  TimelineRecord record;
  for (const auto& changes : MemoryOverTime(step.plan, job.workload, job.cluster, step.schedule,
                                            step.timeline, job.memory)) {
    Bytes& peak = record.peak_memory.emplace_back();
    for (const MemoryChange& change : changes) peak = std::max(peak, change.used);
  }
  record.op_times = OpTimesOf(step.costs);
  record.host_wait = step.evaluation.profile.host_wait;
  record.schedule = std::move(step.schedule);
  record.timeline = std::move(step.timeline);
  return record;
}

void WriteOutputs(const Outputs& outputs, const PlannedJob& job, const SimulatedStep& step,
                  const std::optional<TraceView>& trace, const nlohmann::ordered_json& report,
                  std::ostream& err) {
  if (trace) WriteTraceFile(outputs.trace, *trace);
  if (!outputs.timeline.empty()) {
    WriteFileAtomically(outputs.timeline, ToProto(RecordOf(job, step)).SerializeAsString());
  }
  if (!outputs.page.empty()) {
    const ShownStep shown{&step.schedule, &step.timeline};
    WriteFileAtomically(outputs.page, AnswerPage(report, {&shown, 1}, "simulate"));
  }
  if (outputs.quiet) return;
  for (const std::string& file : {outputs.trace, outputs.timeline, outputs.page}) {
    if (!file.empty()) err << "wrote " << file << '\n';
  }
}

// Adds a warning about the share of the time that rests on no measurement of the GPU type.
void AddBasisWarning(const SimulatedStep& step, PlannedJob& job) {
  const auto& share = step.evaluation.profile.basis_share;
  const auto percent = [&](Basis basis) { return 100 * share[static_cast<int>(basis)]; };
  if (percent(Basis::kExtrapolated) + percent(Basis::kAnalytical) < 1) return;
  job.warnings.insert(
      job.warnings.begin(),
      fmt::format(
          "of the predicted time {:.0f} % is extrapolated from other GPU types, ops or sizes, "
          "{:.0f} % is analytical, and the rest is learned, calibrated or measured on this GPU "
          "type",
          percent(Basis::kExtrapolated), percent(Basis::kAnalytical)));
}

// Adds a warning if the plan offloads activations but none of them would ever leave the device.
void AddOffloadWarning(const SimulatedStep& step, PlannedJob& job) {
  const auto lanes = step.schedule.lane_infos();
  const auto is_port = [](const LaneInfo& lane) { return lane.kind == LaneKind::kHostOut; };
  if (job.plan.offload.activations == 0 || std::any_of(lanes.begin(), lanes.end(), is_port)) return;
  job.warnings.push_back(
      "every backward is one of the three passes after its forward: no activations go to the host");
}

// What --json prints, and what the page of --report is made from.
nlohmann::ordered_json ReportOf(const PlannedJob& job, const SimulatedStep& step,
                                const CostModelFlag& cost_model, const WallTime& wall,
                                const std::optional<MeasuredStep>& measured) {
  Args files = job.files;
  for (const std::string& file : cost_model.files()) files.push_back(file);
  nlohmann::ordered_json report = ReportHeader("simulate", kSchema, files);
  report["cost_model"] = cost_model.name();
  report["seed"] = 0;  // nothing is drawn at random
  report.update(StepToJson(job, step, wall));
  if (measured) report["measured"] = ToJson(*measured);
  return report;
}

// The flags of the verb, and what is built from them.
struct VerbFlags {
  PlanFlags plan;
  NetworkFlags network;
  SlowFlag slow;
  CostModelFlag cost_model;
  CostFlags cost;
  Outputs outputs;

  void Register(Flags& flags) {
    plan.Register(flags);
    slow.Register(flags);
    network.Register(flags);
    cost_model.Register(flags);
    cost.Register(flags);
    RegisterOutputs(flags, outputs);
  }

  PlannedJob Build() const {
    PlannedJob job = plan.Build();
    slow.Apply(job);
    job.network = network.Build(job.cluster);
    job.cost = cost.Build(job.cluster);
    return job;
  }
};

// Adds what the results rest on, and what a user should know about them.
void AddWarnings(const SimulatedStep& step, const CostModelFlag& cost_model, PlannedJob& job) {
  const auto add = [&](std::vector<std::string> sentences) {
    for (std::string& sentence : sentences) job.warnings.push_back(std::move(sentence));
  };
  add(cost_model.NotesOnNetworks(job.cluster));
  AddBasisWarning(step, job);
  add(UseWarnings(step.evaluation, job.workload));
  add(SparseNotes(step.schedule));
  AddOffloadWarning(step, job);
  add(SteadyWarnings(step));
  add(NetworkWarnings(step, job.cluster, job.network));
  add(SlowWarnings(step, job));
  if (job.cost.tokens > 0) add({EnergyNote(job.cost.rates, job.cluster, step.evaluation)});
}

WallTime WallTimeSince(std::chrono::steady_clock::time_point begin, const SimulatedStep& step) {
  WallTime wall;
  wall.total_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const int64_t tasks = RepeatedTasks(step.schedule, step.repetition).total();
  wall.tasks_per_s = static_cast<double>(tasks) / (wall.total_ms * 1e-3);
  return wall;
}

// Returns what the trace shows, if one is asked for. A note says which kernels it leaves out.
std::optional<TraceView> TraceOf(const Outputs& outputs, const SimulatedStep& step, PlannedJob& job,
                                 std::ostream& err) {
  if (outputs.trace.empty()) return std::nullopt;
  TraceView view = ViewOf(job, step);
  std::string note = NoteOnKernels(view);
  if (!note.empty()) note += "; a smaller --global-batch shows all";
  if (!note.empty() && !outputs.quiet) err << "note: " << note << '\n';
  if (!note.empty() && outputs.json) job.warnings.push_back(note);
  return view;
}

}  // namespace

int RunSimulate(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags flags("simulate", "Simulates one training step of a plan on a cluster.");
  VerbFlags verb;
  verb.Register(flags);
  if (flags.Parse(args, out)) return kExitOk;

  const auto begin = std::chrono::steady_clock::now();
  const Outputs& outputs = verb.outputs;
  CheckOutputs(outputs);
  std::optional<Duration> measured_time;
  if (flags.IsGiven("--measured")) {
    measured_time = ParseMeasured("--measured", outputs.measured);
  }
  PlannedJob job = verb.Build();
  const std::unique_ptr<CostModel> model = verb.cost_model.Load();
  const SimulatedStep step = SimulateStep(job.plan, job.workload, job.cluster, *model,
                                          {.unfold = outputs.unfold,
                                           .repeats = !outputs.ShowTasks(),
                                           .network = job.network,
                                           .framework = job.memory});
  RequireSound(step.evaluation, step.plan, job.workload, job.cluster);
  AddWarnings(step, verb.cost_model, job);
  std::optional<MeasuredStep> measured;
  if (measured_time) measured = CompareMeasured(*measured_time, step.evaluation);
  const WallTime wall = WallTimeSince(begin, step);
  const std::optional<TraceView> trace = TraceOf(outputs, step, job, err);
  nlohmann::ordered_json report;
  if (outputs.json || !outputs.page.empty()) {
    report = ReportOf(job, step, verb.cost_model, wall, measured);
  }
  WriteOutputs(outputs, job, step, trace, report, err);
  if (outputs.json) {
    PrintJson(std::move(report), out);
  } else {
    PrintStep(job, step, out);
    if (measured) PrintMeasured(*measured, out);
  }
  return kExitOk;
}

}  // namespace stagecraft
