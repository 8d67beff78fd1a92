// run: executes a plan's schedule on real processors and measures its timeline.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/proto_file.h"
#include "sim/cluster.h"
#include "sim/timeline_errors.h"
#include "sim/timeline_record.h"
#include "sim/timeline_record_proto.h"
#include "tools/command.h"
#include "tools/cost_model_flag.h"
#include "tools/flags.h"
#include "tools/plan_flags.h"
#include "tools/plan_report.h"
#include "tools/print_json.h"
#include "tools/report_header.h"
#include "tools/run/cuda_places.h"
#include "tools/run/op_samples.h"
#include "tools/run/run_host.h"
#include "tools/run/run_request.h"
#include "tools/run/step_lines.h"
#include "tools/run_plan.h"
#include "tools/sample_flags.h"
#include "tools/text_table.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;
constexpr const char* kNotes =
    "--cluster says what the ranks are, as for simulate: as many devices as there are to be "
    "ranks;\n"
    "without it the processors of this host. The median step stands for all. `compare` sets the "
    "timeline beside one of `simulate --unfold\n"
    "--timeline`.\n\n"
    "host  Every rank is a process; mpirun (Debian's openmpi-bin) starts them on this host, each "
    "on\n"
    "      a processor of its own where there are enough. Ops are run at their shapes, in 32 "
    "bits,\n"
    "      on data that mean nothing; messages and collectives by MPI.\n"
    "cuda  Devices of one shared_memory of the cluster file (import local-gpu --parts) are parts "
    "of\n"
    "      one board: one process runs them all. Else every rank is a process with a board of its\n"
    "      own, started by mpirun, srun or torchrun, or on one host by this command; transfers by\n"
    "      NCCL. Rank 0 prints and writes.\n\n"
    "Example: stagecraft run --executor host --model gpt2-tiny --cluster host.json --pp 2 "
    "--global-batch 8 --seq 128 -o measured.pb\n"
    "         stagecraft import local-gpu --parts 2 -o halves.json\n"
    "         stagecraft run --executor cuda --model gpt2-tiny --cluster halves.json --pp 2 "
    "--global-batch 8 --seq 128 -o measured.pb";

struct RunOptions {
  std::string executor = "host", output, op_samples;
  RunRequest request;
  std::optional<int> steps, warm_up;  // exactly so many
  bool json = false;
};

void CheckOptions(const RunOptions& options) {
  if (options.steps.value_or(1) < 1) {
    throw InputError(fmt::format("--steps: got {}, want 1 or more", *options.steps));
  }
  if (options.warm_up.value_or(0) < 0) {
    throw InputError(fmt::format("--warm-up: got {}, want 0 or more", *options.warm_up));
  }
  if (options.request.share_gpu && options.executor != "cuda") {
    throw InputError("--share-gpu: got it with --executor host, want --executor cuda");
  }
  if (!options.output.empty() && !options.output.ends_with(".pb")) {
    throw InputError("-o: got \"" + options.output + "\", want a .pb file");
  }
  if (!options.op_samples.empty()) {
    if (options.executor != "cuda") {
      throw InputError("--op-samples: got it with --executor host, want --executor cuda");
    }
    CheckOutputPath("--op-samples", options.op_samples, {".csv"});
  }
  const std::filesystem::path folder = std::filesystem::path(options.output).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw InputError("-o: no directory " + folder.string());
  }
}

void WriteOpSamples(const RunOptions& options, const PlannedJob& job, const Schedule& schedule,
                    std::ostream& err) {
  StepLines lines(err, options.request.quiet);
  const std::vector<Sample> samples = SampleOps(
      schedule, job.cluster,
      PlaceRanks(schedule.ranks(), job.cluster, options.request.share_gpu),
      [&](const std::string& line) { lines.Show(line); });
  WriteSamplesCsv(options.op_samples, samples);
  if (!options.request.quiet) err << "wrote " << options.op_samples << '\n';
}

// By phase in the schedule's order of them: how many tasks, and what they took together.
std::map<Phase, std::pair<int, Duration>> PhaseSums(const Schedule& schedule,
                                                    const Timeline& timeline) {
  std::map<Phase, std::pair<int, Duration>> sums;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    auto& [count, sum] = sums[schedule.tag(task).phase];
    ++count;
    sum += timeline.end(task) - timeline.start(task);
  }
  return sums;
}

nlohmann::ordered_json ToJson(const BoardReadings& board) {
  return {{"clock_mhz", board.clock_hz * 1e-6}, {"least_clock_mhz", board.least_clock_hz * 1e-6},
          {"watts", board.watts},               {"most_watts", board.most_watts},
          {"most_celsius", board.most_celsius}, {"throttled", board.throttled}};
}

nlohmann::ordered_json RunToJson(const RunOfPlan& run) {
  const PlannedJob& job = run.lowered.job;
  const TimelineRecord& record = *run.record;
  nlohmann::ordered_json report = ReportHeader("run", kSchema, job.files);
  report["executor"] = record.measurement->executor;
  report["software"] = record.measurement->software;
  report["devices"] = record.measurement->devices;
  report["ranks"] = record.schedule.ranks().size();
  report["tasks"] = record.schedule.task_count();
  report["step_time_ms"] = record.timeline.makespan().ms();
  for (const Duration step : record.measurement->steps) report["steps_ms"].push_back(step.ms());
  for (const Duration late : record.measurement->queued_late) {
    report["queued_late_ms"].push_back(late.ms());
  }
  for (const BoardReadings& board : record.measurement->boards) {
    report["boards"].push_back(ToJson(board));
  }
  for (const auto& [phase, sum] : PhaseSums(record.schedule, record.timeline)) {
    report["phases"].push_back(
        {{"phase", Name(phase)}, {"tasks", sum.first}, {"time_ms", sum.second.ms()}});
  }
  if (!run.notes.empty()) report["notes"] = run.notes;
  report["plan"] = PlanToJson(job);
  return report;
}

// "2 x NVIDIA H200, 66 multiprocessors"; on hosts, whose processors are alike, "2 processes".
std::string Measured(const Measurement& measurement) {
  if (measurement.executor == "host") {
    return fmt::format("{} processes", measurement.devices.size());
  }
  std::map<std::string, int> count;
  for (const std::string& device : measurement.devices) ++count[device];
  std::string words;
  for (const auto& [device, times] : count) {
    words += fmt::format("{}{} x {}", words.empty() ? "" : " and ", times, device);
  }
  return words;
}

// What a sensor gave, or a dash.
std::string Reading(double value, const std::string& unit) {
  return value > 0 ? fmt::format("{:.0f} {}", value, unit) : "-";
}

// A row for each run of ranks whose boards read alike.
void PrintBoards(const std::vector<BoardReadings>& boards, std::ostream& out) {
  TextTable table({"ranks", "clock", "least", "power", "most", "heat", "throttled"}, 1);
  for (size_t first = 0, next = 0; first < boards.size(); first = next) {
    while (next < boards.size() && boards[next] == boards[first]) ++next;
    const BoardReadings& board = boards[first];
    table.Add({next - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, next - 1),
               Reading(board.clock_hz * 1e-6, "MHz"), Reading(board.least_clock_hz * 1e-6, "MHz"),
               Reading(board.watts, "W"), Reading(board.most_watts, "W"),
               Reading(board.most_celsius, "C"), fmt::format("{:.0f} %", 100 * board.throttled)});
  }
  table.Print(out);
}

// What may have made the steps slower than the devices are.
void PrintCircumstances(const Measurement& measurement, std::ostream& out) {
  if (!measurement.boards.empty()) {
    out << '\n';
    PrintBoards(measurement.boards, out);
  }
  const std::vector<Duration>& late = measurement.queued_late;
  const auto count = std::count_if(late.begin(), late.end(),
                                   [](Duration step) { return step > Duration(); });
  if (count == 0) return;
  out << fmt::format(
      "note: the host was still queueing {} of {} steps after devices had begun them, for up to "
      "{:.3f} ms: devices may have waited for it\n",
      count, late.size(), std::max_element(late.begin(), late.end())->ms());
}

void PrintRun(const RunOfPlan& run, std::ostream& out) {
  const TimelineRecord& record = *run.record;
  PrintPlan(run.lowered.job, out);
  const std::vector<Duration>& steps = record.measurement->steps;
  const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
  out << fmt::format("measured on {}, {}\n", Measured(*record.measurement),
                     record.measurement->software)
      << fmt::format("step time {:.3f} ms, the median of {}: {:.3f} to {:.3f}\n\n",
                     record.timeline.makespan().ms(), steps.size(), least->ms(), most->ms());
  TextTable table({"phase", "tasks", "ms, all tasks", "ms a task"}, 1);
  for (const auto& [phase, sum] : PhaseSums(record.schedule, record.timeline)) {
    table.Add({Name(phase), std::to_string(sum.first), fmt::format("{:.3f}", sum.second.ms()),
               fmt::format("{:.3f}", sum.second.ms() / sum.first)});
  }
  table.Print(out);
  PrintCircumstances(*record.measurement, out);
  for (const std::string& note : run.notes) out << "note: " << note << '\n';
}

RunOfPlan RunPlanOnHost(const PlanFlags& flags, const CostModel& model, const RunRequest& request,
                        std::ostream& err) {
  RunOfPlan run{.lowered = LowerJob(flags, model), .record = {}, .notes = {}};
  run.record = RunOnHost(run.lowered.schedule, request, err);
  return run;
}

Cluster UsualCluster(const RunOptions& options) {
  if (options.executor == "host") return ThisHost();
  throw InputError("--cluster: got none, want one, such as import local-gpu makes");
}

}  // namespace

int RunRun(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  CLI::App app("Executes one training step of a plan for real.", "stagecraft run");
  app.footer(kNotes);
  RunOptions options;
  PlanFlags flags;
  flags.SetUsualCluster([&options] { return UsualCluster(options); });
  flags.Register(app);
  CostModelFlag cost_model;
  cost_model.Register(app);
  app.add_option("--executor", options.executor, "what runs it [host]")
      ->check(OneOf({"host", "cuda"}));
  app.add_option("--steps", options.steps,
                 "steps that are measured [5, and more until they took 2 s]");
  app.add_option("--warm-up", options.warm_up,
                 "steps before them that do not count [2, and more until they took 0.5 s]");
  app.add_flag("--share-gpu", options.request.share_gpu,
               "cuda: every rank is a process, on whatever board; NCCL uses sockets");
  app.add_option("-o", options.output, "write schedule and measured timeline to a .pb file");
  app.add_option("--op-samples", options.op_samples,
                 "cuda: time every op of the plan by itself after the steps, and write samples to a "
                 ".csv file, for --measured-ops of simulate");
  app.add_flag("--json", options.json, "one JSON object on stdout");
  app.add_flag("--quiet", options.request.quiet, "nothing on stderr");
  if (ParseFlags(app, args, out)) return kExitOk;

  CheckOptions(options);
  if (options.steps) options.request.steps.measured = {*options.steps};
  if (options.warm_up) options.request.steps.warm_up = {*options.warm_up};
  const std::unique_ptr<CostModel> model = cost_model.Load();
  const RunOfPlan run = options.executor == "cuda"
                            ? RunPlanOnGpus(flags, *model, options.request, args, out, err)
                            : RunPlanOnHost(flags, *model, options.request, err);
  if (!run.record) return kExitOk;
  const auto& [job, schedule] = run.lowered;
  const TimelineRecord& record = *run.record;
  RequireSound(record, "the step that ran");
  if (!options.output.empty()) {
    WriteFileAtomically(options.output, ToProto(record).SerializeAsString());
    if (!options.request.quiet) err << "wrote " << options.output << '\n';
  }
  if (!options.op_samples.empty()) WriteOpSamples(options, job, schedule, err);
  if (options.json) {
    PrintJson(RunToJson(run), out);
  } else {
    PrintRun(run, out);
  }
  return kExitOk;
}

}  // namespace stagecraft
