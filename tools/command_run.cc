// run: executes a plan's schedule on real devices and measures its timeline.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/sample.h"
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/proto_file.h"
#include "sim/analysis/timeline_errors.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/timeline_record.h"
#include "sim/schedule/timeline_record_proto.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/sample_flags.h"
#include "tools/report/layer_state_report.h"
#include "tools/report/run_report.h"
#include "tools/run/collective_samples.h"
#include "tools/run/cuda_places.h"
#include "tools/run/fault_flags.h"
#include "tools/run/measured_run_report.h"
#include "tools/run/op_samples.h"
#include "tools/run/run_host.h"
#include "tools/run/run_plan.h"
#include "tools/run/run_request.h"
#include "tools/run/step_lines.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/interrupt_catcher.h"
#include "tools/verb/print_json.h"

namespace stagecraft {
namespace {

constexpr const char* kNominalRates =
    "the prediction takes nominal rates of this host: --cluster and --cost-model, of import "
    "local-host, profile and fit, have measured ones";

struct RunOptions {
  std::string executor = "host", output, op_samples;
  RunRequest request;
  std::optional<int> steps, warm_up;  // if given, exactly this many
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
    CheckOutputPath("--op-samples", options.op_samples, {".csv", ".pb"});
  }
  const std::filesystem::path folder = std::filesystem::path(options.output).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw InputError("-o: got the folder " + folder.string() +
                     ", which does not exist, want an existing one");
  }
}

// Times the ops of the schedule that ran and writes them to the file that the flag names.
void WriteOpSamples(const RunOptions& options, const PlannedJob& job, const Schedule& schedule,
                    std::ostream& err) {
  StepLines lines(err, options.request.quiet);
  const CudaPlaces places = PlaceRanks(schedule.ranks(), job.cluster, options.request.share_gpu);
  std::vector<Sample> samples =
      SampleOps(schedule, job.cluster, places, [&](const std::string& line) { lines.Show(line); });
  // Tables have no columns for the fields of a collective, so only .pb files hold collectives.
  if (options.op_samples.ends_with(".pb")) {
    const std::vector<Sample> collectives = SampleCollectives(schedule, job.cluster, places);
    samples.insert(samples.end(), collectives.begin(), collectives.end());
    WriteSamplesProto(options.op_samples, samples);
  } else {
    WriteSamplesCsv(options.op_samples, samples);
  }
  if (!options.request.quiet) err << "wrote " << options.op_samples << '\n';
}

Cluster UsualCluster(const RunOptions& options) {
  if (options.executor == "host") return ThisHost();
  throw InputError("--cluster: got none, want one, such as import local-gpu makes");
}

void AddNotes(Flags& flags) {
  flags.AddExample(
      "run --executor host --model gpt2-tiny --cluster host.json --pp 2 --global-batch 8 --seq 128 "
      "-o measured.pb");
  flags.AddExample(
      "run --executor cuda --model gpt2-tiny --cluster halves.json --pp 2 --global-batch 8 --seq "
      "128 -o measured.pb");
  flags.AddNote(
      "--cluster describes the devices, as for simulate, one for every rank. The result is the "
      "median of the measured steps. compare sets the timeline beside one of simulate --unfold "
      "--timeline. import local-host and import local-gpu --parts 2 make files such as host.json "
      "and halves.json.");
  flags.AddExample(
      "run --executor host --model gpt2-tiny --cluster host.json --cost-model host.pb --pp 2 "
      "--global-batch 8 --seq 128 --steps 200 --slow 1=0.5 --kill 1@step=70 --checkpoint-every 30");
  flags.AddNote("Executors:");
  flags.AddTerm("host",
                "Every rank is a process; mpirun (Debian's openmpi-bin) starts them on this host, "
                "each on a processor of its own if there are enough. Ops run at their shapes, in "
                "32 bits, on meaningless data; messages and collectives use MPI.");
  flags.AddTerm("cuda",
                "Devices of one shared_memory of the cluster file (import local-gpu --parts) are "
                "parts of one GPU: one process runs them all. Otherwise every rank is a process "
                "with a GPU of its own, started by mpirun, srun or torchrun, or on one host by "
                "this command; transfers use NCCL. Rank 0 prints and writes.");
}

void Register(Flags& flags, RunOptions& options) {
  FlagGroup group = flags.In(FlagTopic::kMeasurement);
  group.Add("--executor", options.executor, {"<name>", "What runs the step (below).", "", "host"})
      .OneOf({"host", "cuda"})
      .Common();
  group
      .Add("--steps", options.steps,
           {"<n>",
            "How many training steps are measured, or make up the run of --kill and "
            "--checkpoint-every.",
            "1 or more", "5, and more until they took 2 s"})
      .Common();
  group.Add("--warm-up", options.warm_up,
            {"<n>", "How many training steps to run before them without counting them.",
             "0 or more", "2, and more until they took 0.5 s"});
  group.Add("--share-gpu", options.request.share_gpu,
            {"",
             "With cuda: every rank is a process, and several may use one GPU; NCCL communicates "
             "through sockets."});
  FlagGroup output = flags.In(FlagTopic::kOutput);
  output
      .Add("-o,--output", options.output,
           {"<file.pb>", "Write schedule and measured timeline to a file, for compare."})
      .Common();
  output.Add(
      "--op-samples", options.op_samples,
      {"<file>",
       "With cuda: after the steps, time every op of the plan by itself and write samples to a "
       ".csv or .pb file, for fit and for simulate --measured-ops; a .pb file has the collectives "
       "between parts, too."});
  flags.AddReporting(options.json, options.request.quiet);
}

// Writes and prints what was measured.
void Report(const RunOptions& options, const RunOfPlan& run, std::ostream& out, std::ostream& err) {
  const auto& [job, schedule] = run.lowered;
  const TimelineRecord& record = *run.record;
  RequireSound(record, "the step that ran");
  if (!options.output.empty()) {
    WriteFileAtomically(options.output, ToProto(record).SerializeAsString());
    if (!options.request.quiet) err << "wrote " << options.output << '\n';
  }
  if (!options.op_samples.empty()) WriteOpSamples(options, job, schedule, err);
  if (options.json) {
    nlohmann::ordered_json report = RunToJson(job, record, run.notes);
    AddMeasuredRun(run, &report);
    PrintJson(report, out);
  } else {
    PrintRun(job, record, run.notes, out);
    PrintMeasuredRun(run, out);
  }
}

}  // namespace

int RunRun(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags described("run", "Executes a training step of a plan on real devices and measures it.");
  RunOptions options;
  PlanFlags flags;
  FaultFlags faults;
  CostModelFlag cost_model;
  AddNotes(described);
  flags.SetUsualCluster([&options] { return UsualCluster(options); });
  flags.Register(described);
  cost_model.Register(described);
  Register(described, options);
  faults.Register(described);
  if (described.Parse(args, out)) return kExitOk;

  CheckOptions(options);
  if (options.steps) options.request.steps.measured = {*options.steps};
  if (options.warm_up) options.request.steps.warm_up = {*options.warm_up};
  faults.Apply(described, options.executor, options.steps, options.request);
  std::optional<InterruptCatcher> catcher;
  if (options.executor == "host") {
    catcher.emplace();
    options.request.stop = InterruptCatcher::flag();
  }
  const std::unique_ptr<CostModel> model = cost_model.Load();
  RunOfPlan run = options.executor == "cuda"
                      ? RunPlanOnGpus(flags, *model, options.request, args, out, err)
                      : RunPlanOnHost(flags, faults, *model, options.request, err);
  if (!run.record) {
    return catcher && InterruptCatcher::was_interrupted() ? kExitInterrupted : kExitOk;
  }
  if (run.predicted && !described.IsGiven("--cluster")) run.notes.emplace_back(kNominalRates);
  for (std::string& note : SparseNotes(run.lowered.schedule)) run.notes.push_back(std::move(note));
  Report(options, run, out, err);
  return kExitOk;
}

}  // namespace stagecraft
