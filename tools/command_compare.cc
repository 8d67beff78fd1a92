// compare: compares what was measured with what was predicted: the timeline of a step, or the
// collectives of a network.
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "proto/timeline.pb.h"
#include "sim/analysis/schedule_difference.h"
#include "sim/analysis/timeline_errors.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record_proto.h"
#include "tools/network/network_comparison.h"
#include "tools/recorded/trace_format.h"
#include "tools/recorded/trace_import.h"
#include "tools/report/class_report.h"
#include "tools/report/comparison_report.h"
#include "tools/trace/trace_file.h"
#include "tools/trace/trace_pair.h"
#include "tools/trace/trace_view.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;
struct CompareFlags {
  std::string predicted, trace;
  Args measured;
  int top = 10;
  NetworkLogs network;
  bool json = false, quiet = false;
};

void CheckFlags(const Flags& described, const CompareFlags& flags) {
  if (flags.top < 0) throw InputError(fmt::format("--top: got {}, want at least 0", flags.top));
  const auto refuse = [&](std::initializer_list<const char*> names, const char* problem) {
    for (const char* name : names) {
      if (described.IsGiven(name)) throw InputError(std::string(name) + ": " + problem);
    }
  };
  if (described.IsGiven("--network")) {
    refuse({"PREDICTED", "MEASURED", "--trace", "--top"},
           "got it with --network, want it only with two timelines");
    return;
  }
  if (flags.predicted.empty()) {
    throw InputError("PREDICTED: got none, want two timelines, or --network with logs");
  }
  if (flags.measured.empty()) {
    throw InputError("MEASURED: got none, want a timeline beside " + flags.predicted);
  }
  refuse({"--cluster", "--cost-model"}, "got it without --network, want it only with --network");
  if (flags.trace.empty()) return;
  CheckTraceFile("--trace", flags.trace);
}

TimelineFile ReadTimeline(const std::string& path) {
  TimelineProto proto;
  ReadProtoFile(path, &proto);
  return {path, TimelineRecordFromProto(proto, path)};
}

// Reads a timeline, or makes one of a profiler's traces of the ranks of one job; adds notes on
// these traces to `notes`.
TimelineFile ReadMeasured(const Args& paths, Args& notes) {
  const std::optional<TraceFormat> format = FindTraceFormat(paths[0]);
  if (!format) {
    if (paths.size() == 1) return ReadTimeline(paths[0]);
    throw InputError(
        fmt::format("MEASURED: got {} files of which {} is no trace of a profiler, want one "
                    "timeline, or traces of ranks",
                    paths.size(), paths[0]));
  }
  ImportedTrace imported =
      ImportTraces({.format = *format, .files = paths, .gpu = "", .cluster = ""});
  RequireSound(imported.timeline.record, paths[0]);
  notes = std::move(imported.notes);
  return {fmt::format("{}", fmt::join(paths, ", ")), std::move(imported.timeline.record)};
}

Json Header(const CompareFlags& flags) {
  Args files = {flags.predicted};
  files.insert(files.end(), flags.measured.begin(), flags.measured.end());
  return ReportHeader("compare", kSchema, files);
}

// `schedule` is that of both files. `with_ops`: the file says how long each op takes, as only
// predictions do.
TraceView ViewOf(const TimelineFile& file, const Schedule& schedule, const Json& header,
                 bool with_ops) {
  TraceInput input{.schedule = schedule, .timeline = file.record.timeline};
  if (with_ops) input.op_times = &file.record.op_times;
  input.title = "predicted and measured";
  input.facts = {{"tool", "stagecraft"}, {"version", kToolVersion}};
  for (const Json& read : header["inputs"]) {
    input.facts.emplace_back(read["path"].get<std::string>(), read["sha256"].get<std::string>());
  }
  try {
    return MakeTraceView(input);
  } catch (const InputError& error) {
    throw InputError(file.path + ": " + error.what());
  }
}

// Returns a note if the trace does not show all kernels whose times are known; else "".
std::string WriteTrace(const ComparedTimelines& compared, const Json& header,
                       const std::string& file) {
  const TimelineRecord& record = compared.predicted.record;
  const TraceView predicted = ViewOf(compared.predicted, record.schedule, header, true);
  WriteTraceFile(
      file, PairTraceViews(predicted, ViewOf(compared.measured, record.schedule, header, false)));
  return record.op_times.by_device.empty() ? "" : NoteOnKernels(predicted);
}

bool IsFolded(const Schedule& schedule) {
  const auto ranks = schedule.ranks();
  return std::any_of(ranks.begin(), ranks.end(),
                     [](const RankInfo& rank) { return rank.multiplicity > 1; });
}

// Throws InputError if the two timelines are not of the same schedule.
void CheckSchedules(const TimelineFile& predicted, const TimelineFile& measured) {
  const Schedule& want = predicted.record.schedule;
  const Schedule& got = measured.record.schedule;
  const std::optional<std::string> difference = FindDifference(want, got);
  if (!difference) return;
  throw InputError(fmt::format("{}: schedule.{}, as in {}: both must be of one schedule{}",
                               measured.path, *difference, predicted.path,
                               IsFolded(want) != IsFolded(got)
                                   ? ", either both of every device (simulate --unfold) or neither"
                                   : ""));
}

// Compares timelines of which one at least was recorded by a profiler: its tasks are kernels.
void CompareKernels(const CompareFlags& flags, TimelineFile predicted, TimelineFile measured,
                    std::ostream& out) {
  if (!flags.trace.empty()) {
    throw InputError(
        "--trace: got it with a timeline of a profiler's kernels, want it with two timelines of "
        "one "
        "schedule");
  }
  const ComparedClasses compared = CompareByClass(std::move(predicted), std::move(measured));
  if (!flags.json) {
    PrintClassComparison(compared, flags.top, out);
    return;
  }
  Json report = Header(flags);
  report.update(ToJson(compared, flags.top));
  PrintJson(std::move(report), out);
}

void CompareFiles(const CompareFlags& flags, std::ostream& out, std::ostream& err) {
  Args notes;
  ComparedTimelines compared{
      ReadTimeline(flags.predicted), ReadMeasured(flags.measured, notes), {}};
  if (!flags.quiet) {
    for (const std::string& note : notes) err << "note: " << note << '\n';
  }
  if (compared.predicted.record.kernels || compared.measured.record.kernels) {
    CompareKernels(flags, std::move(compared.predicted), std::move(compared.measured), out);
    return;
  }
  CheckSchedules(compared.predicted, compared.measured);
  compared.comparison = CompareTimelines(compared.predicted.record, compared.measured.record);
  RequireSound(compared.comparison, flags.predicted + " and " + flags.measured[0]);
  Json report = Header(flags);
  if (!flags.trace.empty()) {
    const std::string note = WriteTrace(compared, report, flags.trace);
    if (!flags.quiet) err << "wrote " << flags.trace << '\n';
    if (!flags.quiet && !note.empty()) err << "note: " << note << '\n';
  }
  if (!flags.json) {
    PrintComparison(compared, flags.top, out);
    return;
  }
  report.update(ToJson(compared, flags.top));
  PrintJson(std::move(report), out);
}

void AddExamples(Flags& flags) {
  flags.AddExample("compare predicted.pb measured.pb --trace both.pftrace");
  flags.AddExample("compare predicted.pb rank0.json.gz rank1.json.gz");
  flags.AddExample("compare --network all_reduce.log --cluster dgx-a100:4");
  flags.AddNote(
      "PREDICTED and MEASURED are timelines of one schedule. The report says where the prediction "
      "is wrong: by phase, op class, rank and task, on the critical path, in how much "
      "communication slows compute beside it, and in memory. Devices and links may differ, tasks "
      "may not.");
  flags.AddNote(
      "A profiler's trace, or a timeline that import made of one, has kernels in place of tasks: "
      "the report then compares classes of kernels and phases, and names what was never predicted "
      "and what never ran.");
  flags.AddNote(
      "With --network the verdict on a message size is \"as predicted\" within the 80 % interval "
      "of the prediction or 15 %, else slower or faster. The verdict on a log is that on its "
      "largest message, whose time depends on bandwidth.");
}

void Register(Flags& flags, CompareFlags& values) {
  FlagGroup input = flags.In(FlagTopic::kInput);
  input.Add("PREDICTED", values.predicted, {"", "A timeline, as simulate --timeline writes it."});
  input.Add(
      "MEASURED", values.measured,
      {"",
       "A timeline of the same schedule, as run writes it, or what a profiler recorded: traces "
       "of Kineto, Nsight Systems or Chakra, of all ranks or some."});
  input.Add("--network", values.network.files,
            {"<file>...",
             "Compare measured with predicted bus bandwidth: logs of nccl-tests, in place of two "
             "timelines."});
  input.Add(
      "--cluster", values.network.cluster,
      {"<cluster>", "With --network: the cluster on which the logs were taken, as for simulate."});
  flags.In(FlagTopic::kCostModel)
      .Add("--cost-model", values.network.cost_model,
           {"<file>", "With --network: a model of collectives that fit wrote.", "",
            "the shipped model"});
  FlagGroup output = flags.In(FlagTopic::kOutput);
  output.Add("--top", values.top,
             {"<n>", "How many of the worst tasks to show.", "0 or more", "10"});
  output.Add(
      "--trace", values.trace,
      {"<file>",
       "Write both timelines, lane by lane, to one trace: .pftrace for Perfetto or .json for "
       "Chrome."});
  flags.AddReporting(values.json, values.quiet);
}

}  // namespace

int RunCompare(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags described("compare", "Compares a measured training step or network with its prediction.");
  CompareFlags flags;
  AddExamples(described);
  Register(described, flags);
  if (described.Parse(args, out)) return kExitOk;
  CheckFlags(described, flags);
  if (described.IsGiven("--network")) {
    CompareNetwork(flags.network, flags.json, out);
  } else {
    CompareFiles(flags, out, err);
  }
  return kExitOk;
}

}  // namespace stagecraft
