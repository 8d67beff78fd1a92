// profile: measures ops on a device and writes them as samples.
#include <fmt/core.h>

#include <functional>
#include <istream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/flags/sample_flags.h"
#include "tools/kernels/sample_warnings.h"
#include "tools/profile/collective_sweep.h"
#include "tools/profile/profile_devices.h"
#include "tools/profile/profile_run.h"
#include "tools/profile/steady_clock.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/interrupt_catcher.h"
#include "tools/verb/print_json.h"
#include "tools/verb/progress_text.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;
constexpr double kMegahertzPerHertz = 1e-6;
struct ProfileFlags {
  std::string device, suite = "quick", budget, gpu, cluster, output;
  int part = 0;
  uint64_t seed = 1;
  bool resume = false, kernels = false, allow_missing = false, json = false, quiet = false;
};

// Parses a time such as "540s"; Duration::Max() for an empty text.
Duration ParseSeconds(const std::string& text) {
  if (text.empty()) return Duration::Max();
  constexpr double kMost = 1e8;
  std::string_view unit = text;
  const std::optional<double> seconds = TakeNumber<double>(unit);
  if (!seconds || unit != "s" || !(*seconds > 0) || *seconds > kMost) {
    throw InputError("--budget: got \"" + text + "\", want seconds, as 540s");
  }
  return Duration::Seconds(*seconds);
}

ProfileRequest RequestFrom(const ProfileFlags& flags) {
  if (flags.device.empty())
    throw InputError("--device: got none, want host, or cuda:N, the N-th GPU from 0");
  if (flags.output.empty()) throw InputError("-o: got no file, want one for the samples");
  const bool is_table = flags.kernels || NamesSeveral(flags.device);
  CheckOutputPath("-o", flags.output, is_table ? Args{".csv"} : Args{".csv", ".pb"});
  if (NamesSeveral(flags.device) && (flags.kernels || flags.resume)) {
    throw InputError(fmt::format("--{}: got several devices too, want one",
                                 flags.kernels ? "kernels" : "resume"));
  }
  if (flags.kernels && flags.resume) {
    throw InputError(
        "--kernels: got --resume too, want one of them: a table of kernels cannot be resumed");
  }
  if (flags.cluster.empty() && flags.part != 0) {
    throw InputError("--part: got one without --cluster, want the cluster whose device it is");
  }
  if (!flags.cluster.empty() && (NamesSeveral(flags.device) || !flags.gpu.empty())) {
    throw InputError(
        fmt::format("--cluster: got {} too, want one GPU, whose type the cluster gives",
                    flags.gpu.empty() ? "several devices" : "--gpu"));
  }
  ProfileRequest request;
  request.suite = flags.suite == "full"        ? SuiteSize::kFull
                  : flags.suite == "calibrate" ? SuiteSize::kCalibrate
                                               : SuiteSize::kQuick;
  request.resumes = flags.resume;
  request.budget = ParseSeconds(flags.budget);
  request.seed = flags.seed;
  request.gpu = flags.gpu;
  request.output = flags.output;
  request.stop = InterruptCatcher::flag();
  return request;
}

// Returns a line of progress. `before` ops were measured by earlier runs.
std::string Describe(const ProfileProgress& progress, size_t before) {
  const DeviceState& state = progress.state;
  std::string sensors;
  if (state.clock_hz > 0) {
    sensors = fmt::format("{:.0f} MHz, {:.0f} W, {:.0f} C, ", state.clock_hz * kMegahertzPerHertz,
                          state.watts, state.celsius);
  }
  const std::string done =
      ProgressText(static_cast<int64_t>(progress.done), static_cast<int64_t>(progress.all), "ops",
                   progress.elapsed.seconds(), static_cast<int64_t>(before));
  return fmt::format("{}, {}next: {}", done, sensors, stagecraft::Describe(progress.next->op));
}

Json ToJson(const ProfileReport& report, const ProfileFlags& flags, double wall_ms) {
  Json json = ReportHeader("profile", kSchema, {});
  json["seed"] = flags.seed;
  json["device"] = flags.device;
  json["device_name"] = report.device.name;
  json["gpu"] = report.gpu;
  json["software"] = report.device.software;
  json["suite"] = flags.suite;
  json["ops"] = report.cases;
  json["kernels"] = flags.kernels;
  json["measured"] = report.outcome.measured;
  json["measured_before"] = report.outcome.already;
  json["left"] = report.outcome.left;
  json["throttled"] = report.outcome.throttled;
  json["measured_throttled"] = report.outcome.measured_hot;
  json["refused"] = Json::array();
  for (const auto& [reason, count] : report.outcome.refused) {
    json["refused"].push_back({{"reason", reason}, {"ops", count}});
  }
  json["output"] = flags.output;
  json["wall_ms"] = wall_ms;
  return json;
}

void Print(const ProfileReport& report, const ProfileFlags& flags, std::ostream& out) {
  const ProfileOutcome& outcome = report.outcome;
  out << fmt::format("{} ({}), {}\n", report.device.name, report.gpu, report.device.software);
  out << fmt::format("{} suite: {} ops, {} measured now, {} by earlier runs, {} left; seed {}\n",
                     flags.suite, report.cases, outcome.measured, outcome.already, outcome.left,
                     flags.seed);
  for (const auto& [reason, count] : outcome.refused) {
    out << fmt::format("not measured: {} ops: {}\n", count, reason);
  }
  if (outcome.throttled > 0) {
    out << fmt::format(
        "not measured: {} ops: heat or a protection held the clock down; --resume tries again\n",
        outcome.throttled);
  }
  if (outcome.measured_hot > 0) {
    out << fmt::format(
        "measured throttled: {} ops: heat or a protection held the clock down all the time; their "
        "software "
        "says \"throttled\"\n",
        outcome.measured_hot);
  }
  if (report.leaves_host_copies) {
    out << "not measured: copies between host and device, which need -o FILE.pb and a known bus\n";
  }
}

// Throws InputError if there is a kind of op of which none could be run, unless --allow-missing is
// given. The samples of other ops are in the file nevertheless.
void RefuseMissing(const ProfileReport& report, const ProfileFlags& flags) {
  std::string kinds;
  for (const auto& [kind, runs] : report.outcome.runs) {
    if (!runs) kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", Name(kind));
  }
  if (flags.allow_missing || kinds.empty()) return;
  throw InputError(fmt::format(
      "--device: got one that cannot run {}, want one that can, with NVIDIA's libraries where the "
      "loader finds them, or --allow-missing; what was measured is in {}",
      kinds, flags.output));
}

void AddExamples(Flags& flags) {
  flags.AddExample("profile --device cuda:0 --suite quick -o samples.csv");
  flags.AddExample("profile --device cuda:0 --suite full --resume --budget 540s -o all.pb");
  flags.AddExample("profile --device cuda:0 --cluster halves.json --part 1 -o half.csv");
  flags.AddExample("profile --device cuda:0,1,2,3 -o collectives.csv");
  flags.AddNote(
      "The samples are for fit, fit --calibrate and evaluate. Every sample is in the file as soon "
      "as it is known. A .pb file also holds copies between host and device, for which tables have "
      "no column.");
  flags.AddNote(
      "With several devices NCCL's collectives are measured, between the first two and between "
      "all, from 1 KiB to 1 GiB; the table, a .csv, is for fit --network and evaluate --network.");
}

void Register(Flags& flags, ProfileFlags& values) {
  FlagGroup measurement = flags.In(FlagTopic::kMeasurement);
  measurement
      .Add("--device", values.device,
           {"<device>",
            "What to measure: host, cuda:N (the N-th GPU, from 0) or several GPUs, as cuda:0,1."})
      .Common();
  measurement
      .Add("--suite", values.suite,
           {"<name>",
            "Which ops: calibrate has eight GEMMs for fit --calibrate and takes seconds; "
            "quick takes 3 minutes at most, full 15.",
            "", "quick"})
      .OneOf({"calibrate", "quick", "full"})
      .Common();
  measurement.Add("--budget", values.budget,
                  {"<time>", "End after a time in seconds, such as 540s.", "above 0s", "none"});
  measurement.Add("--resume", values.resume,
                  {"", "Continue the file of -o: what it already holds is not measured again."});
  measurement.Add(
      "--kernels", values.kernels,
      {"",
       "In place of samples, write which kernels every op launches, and the gaps between them."});
  measurement.Add("--allow-missing", values.allow_missing,
                  {"", "Do not fail if no op of some kind can run, for instance without cuDNN."});
  measurement.Add("--seed", values.seed,
                  {"<n>", "Seed of the order in which ops are measured.", "0 or more", "1"});
  FlagGroup cluster = flags.In(FlagTopic::kCluster);
  cluster.Add("--gpu", values.gpu,
              {"<gpu>", "The GPU type in the catalogue, if the device's own name is not there.", "",
               "as the device is named"});
  cluster.Add("--cluster", values.cluster,
              {"<file>",
               "A cluster file that import local-gpu --parts wrote: measure one of these parts of "
               "the GPU."});
  cluster.Add("--part", values.part,
              {"<n>", "Which device of --cluster to measure, from 0.", "0 or more", "0"});
  flags.In(FlagTopic::kOutput)
      .Add("-o,--output", values.output, {"<file>", "The samples, as .csv or .pb."})
      .Common();
  flags.AddReporting(values.json, values.quiet);
}

ProfileReport WriteKernels(const ProfileFlags& flags, OpTimer& timer, const ProfileRequest& request,
                           ProfilerClock& clock,
                           const std::function<void(const ProfileProgress&)>& show) {
  const std::unique_ptr<KernelTracer> tracer = MakeKernelTracer(flags.device);
  const KernelTable table = TabulateKernels(timer, *tracer, request, clock, show);
  WriteFileAtomically(flags.output, table.text);
  return table.report;
}

ProfileReport WriteCollectives(const ProfileFlags& flags, const ProfileRequest& request,
                               ProfilerClock& clock,
                               const std::function<void(const ProfileProgress&)>& show) {
  const DeviceGroup group = OpenDeviceGroup(flags.device, flags.gpu);
  const CollectiveSweep sweep = SweepCollectives(*group.timer, group.cluster, request, clock, show);
  WriteFileAtomically(flags.output, sweep.text);
  return sweep.report;
}

ProfileReport Profile(const ProfileFlags& flags, const ProfileRequest& request, const GpuPart& part,
                      ProfilerClock& clock,
                      const std::function<void(const ProfileProgress&)>& show) {
  if (NamesSeveral(flags.device)) return WriteCollectives(flags, request, clock, show);
  const std::unique_ptr<OpTimer> timer = MakeOpTimer(flags.device, part);
  return flags.kernels ? WriteKernels(flags, *timer, request, clock, show)
                       : RunProfileOn(*timer, request, clock, show);
}

}  // namespace

int RunProfile(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags described("profile", "Measures ops on a GPU or on this host.");
  ProfileFlags flags;
  AddExamples(described);
  Register(described, flags);
  if (described.Parse(args, out)) return kExitOk;

  const InterruptCatcher catcher;
  ProfileRequest request = RequestFrom(flags);
  GpuPart part;
  if (!flags.cluster.empty()) {
    NamedPart named = PartOfCluster(ParseCluster(flags.cluster), flags.part, "--cluster");
    request.uncatalogued = std::move(named.device);
    part = std::move(named.part);
  }
  SteadyClock clock;
  ProgressLine progress(err, flags.quiet);
  const auto show = progress.Reporter();
  std::optional<size_t> before;
  const auto show_progress = [&](const ProfileProgress& state) {
    if (!before) before = state.done;
    if (show) show(Describe(state, *before));
  };
  const ProfileReport report = Profile(flags, request, part, clock, show_progress);
  progress.Clear();
  if (flags.json) {
    PrintJson(ToJson(report, flags, clock.Elapsed().ms()), out);
  } else {
    Print(report, flags, out);
  }
  if (!flags.quiet && report.outcome.measured + report.outcome.already > 0) {
    for (const std::string& warning : SampleWarnings(flags.output, ReadSamples(flags.output))) {
      err << "warning: " << warning << '\n';
    }
  }
  if (!flags.quiet) {
    err << fmt::format("wrote {} after {:.1f} s\n", flags.output, clock.Elapsed().seconds());
  }
  if (InterruptCatcher::was_interrupted()) return kExitInterrupted;
  RefuseMissing(report, flags);
  return kExitOk;
}

}  // namespace stagecraft
