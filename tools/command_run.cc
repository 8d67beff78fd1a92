// run: executes a plan's schedule on real processors and measures its timeline.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/proto_file.h"
#include "proto/timeline.pb.h"
#include "runtime/rank_launcher.h"
#include "sim/lowering.h"
#include "sim/plan_orders.h"
#include "sim/schedule_proto.h"
#include "sim/timeline_record.h"
#include "sim/timeline_record_proto.h"
#include "tools/command.h"
#include "tools/cost_model_flag.h"
#include "tools/flags.h"
#include "tools/plan_flags.h"
#include "tools/plan_report.h"
#include "tools/report_header.h"
#include "tools/text_table.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;
constexpr const char* kNotes =
    "Every rank of the plan is a process; mpirun (Debian's openmpi-bin) starts them on this host,\n"
    "each on a processor of its own where there are enough. Ops are run at their shapes, in 32\n"
    "bits, on data that mean nothing; messages and collectives by MPI. --cluster says what the\n"
    "ranks are, as for simulate: as many devices as there are to be processes. The median step\n"
    "stands for all. `compare` sets the timeline beside one of `simulate --unfold --timeline`.\n\n"
    "Example: stagecraft run --executor host --model gpt2-tiny --cluster h100-sxm:1x2 --pp 2 "
    "--global-batch 8 --seq 128 -o measured.pb";

struct RunOptions {
  std::string executor = "host", output;
  int steps = 5, warm_up = 2;
  bool json = false, quiet = false;
};

// A folder that goes with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    // Six characters that mkdtemp() replaces.
    std::string name =
        (std::filesystem::temp_directory_path() / "stagecraft-").string() + std::string(6, 'X');
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made: " + name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  std::string File(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// The program that processes run: beside this one, or where a test says.
std::string RankProgramFile() {
  const char* told = std::getenv("STAGECRAFT_HOST_RANK");
  if (told != nullptr) return told;
  const std::filesystem::path file =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "stagecraft_host_rank";
  std::error_code error;
  if (std::filesystem::exists(file, error)) return file.string();
  throw InputError("run: " + file.string() + " is missing, want it beside stagecraft");
}

void CheckOptions(const RunOptions& options) {
  if (options.steps < 1 || options.warm_up < 0) {
    throw InputError(fmt::format("{}: got {}, want {}", options.steps < 1 ? "--steps" : "--warm-up",
                                 options.steps < 1 ? options.steps : options.warm_up,
                                 options.steps < 1 ? "1 or more" : "0 or more"));
  }
  if (!options.output.empty() && !options.output.ends_with(".pb")) {
    throw InputError("-o: got \"" + options.output + "\", want a .pb file");
  }
  const std::filesystem::path folder = std::filesystem::path(options.output).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw InputError("-o: no directory " + folder.string());
  }
}

// Executes the schedule; its timeline, and what every step took.
TimelineProto Measure(const Schedule& schedule, const RunOptions& options, std::ostream& err) {
  const ScratchFolder folder;
  const std::string input = folder.File("schedule.pb"), output = folder.File("timeline.pb");
  WriteFileAtomically(input, ToProto(schedule).SerializeAsString());
  std::string failure;
  const LaunchEnd end = LaunchRanks(static_cast<int>(schedule.ranks().size()),
                                    {RankProgramFile(), input, std::to_string(options.warm_up),
                                     std::to_string(options.steps), output},
                                    [&](const std::string& line) {
                                      if (line.starts_with("step ")) {
                                        if (!options.quiet) err << line << '\n';
                                      } else if (failure.empty()) {
                                        failure = line;
                                      }
                                    });
  if (end.exit_code != 0) {
    std::string why = !failure.empty() ? failure : end.death;
    if (why.empty()) why = fmt::format("mpirun ended with code {}", end.exit_code);
    throw std::runtime_error(why + "; all processes were stopped");
  }
  TimelineProto timeline;
  ReadProtoFile(output, &timeline);
  return timeline;
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

nlohmann::ordered_json RunToJson(const PlannedJob& job, const TimelineRecord& record) {
  nlohmann::ordered_json report = ReportHeader("run", kSchema, job.files);
  report["executor"] = record.measurement->executor;
  report["software"] = record.measurement->software;
  report["devices"] = record.measurement->devices;
  report["ranks"] = record.schedule.ranks().size();
  report["tasks"] = record.schedule.task_count();
  report["step_time_ms"] = record.timeline.makespan().ms();
  for (const Duration step : record.measurement->steps) report["steps_ms"].push_back(step.ms());
  for (const auto& [phase, sum] : PhaseSums(record.schedule, record.timeline)) {
    report["phases"].push_back(
        {{"phase", Name(phase)}, {"tasks", sum.first}, {"time_ms", sum.second.ms()}});
  }
  report["plan"] = PlanToJson(job);
  return report;
}

void PrintRun(const PlannedJob& job, const TimelineRecord& record, std::ostream& out) {
  PrintPlan(job, out);
  const std::vector<Duration>& steps = record.measurement->steps;
  const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
  out << fmt::format("measured on {} processes, {}\n", record.schedule.ranks().size(),
                     record.measurement->software)
      << fmt::format("step time {:.3f} ms, the median of {}: {:.3f} to {:.3f}\n\n",
                     record.timeline.makespan().ms(), steps.size(), least->ms(), most->ms());
  TextTable table({"phase", "tasks", "ms, all ranks", "ms a task"}, 1);
  for (const auto& [phase, sum] : PhaseSums(record.schedule, record.timeline)) {
    table.Add({Name(phase), std::to_string(sum.first), fmt::format("{:.3f}", sum.second.ms()),
               fmt::format("{:.3f}", sum.second.ms() / sum.first)});
  }
  table.Print(out);
}

}  // namespace

int RunRun(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  CLI::App app("Executes one training step of a plan for real.", "stagecraft run");
  app.footer(kNotes);
  PlanFlags flags;
  flags.Register(app);
  CostModelFlag cost_model;
  cost_model.Register(app);
  RunOptions options;
  app.add_option("--executor", options.executor, "what runs it [host]")->check(OneOf({"host"}));
  app.add_option("--steps", options.steps, "steps that are measured [5]");
  app.add_option("--warm-up", options.warm_up, "steps before them that do not count [2]");
  app.add_option("-o", options.output, "write schedule and measured timeline to a .pb file");
  app.add_flag("--json", options.json, "one JSON object on stdout");
  app.add_flag("--quiet", options.quiet, "nothing on stderr");
  if (ParseFlags(app, args, out)) return kExitOk;

  CheckOptions(options);
  PlannedJob job = flags.Build();
  if (job.plan.gradient_sync.method != SyncMethod::kAllReduce) {
    throw InputError(fmt::format("--gradient-sync: got {}, want all-reduce, which MPI does",
                                 Name(job.plan.gradient_sync.method)));
  }
  const std::unique_ptr<CostModel> model = cost_model.Load();
  job.plan = WithOrders(job.plan, job.workload, job.cluster, *model);
  const Schedule schedule = Lower(job.plan, job.workload, job.cluster, {.unfold = true});
  const TimelineProto measured = Measure(schedule, options, err);
  const TimelineRecord record = TimelineRecordFromProto(measured, "timeline");
  if (!options.output.empty()) {
    WriteFileAtomically(options.output, measured.SerializeAsString());
    if (!options.quiet) err << "wrote " << options.output << '\n';
  }
  if (options.json) {
    out << RunToJson(job, record).dump(2) << '\n';
  } else {
    PrintRun(job, record, out);
  }
  return kExitOk;
}

}  // namespace stagecraft
