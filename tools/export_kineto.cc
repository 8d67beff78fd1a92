// export kineto: writes a timeline as a trace of PyTorch's profiler.
#include "tools/export_kineto.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "proto/timeline.pb.h"
#include "sim/schedule/timeline_record_proto.h"
#include "tools/recorded/kineto_writer.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

}  // namespace

int RunExportKineto(const Args& args, std::ostream& out) {
  Flags flags("export kineto", "Writes a timeline as the JSON of PyTorch's profiler.");
  std::string timeline, path;
  bool as_json = false, quiet = false;  // quiet is accepted, though there is nothing to suppress
  flags.AddExample("export kineto measured.pb -o measured.json");
  flags.In(FlagTopic::kInput)
      .Add("TIMELINE", timeline, {"", "A timeline, as run or simulate --timeline writes it."})
      .Required()
      .Common();
  flags.In(FlagTopic::kOutput)
      .Add("-o,--output", path, {"<file.json>", "The trace to write, whole or not at all."})
      .Required()
      .Common();
  flags.AddReporting(as_json, quiet);
  flags.AddNote(
      "Every task becomes a kernel on each of its lanes. import kineto reads the trace back with "
      "the "
      "same times, ranks, lanes and tags; ops and dependencies are not part of the format.");
  if (flags.Parse(args, out)) return kExitOk;
  if (!path.ends_with(".json")) {
    throw InputError(fmt::format("-o: got \"{}\", want a .json file", path));
  }
  TimelineProto proto;
  ReadProtoFile(timeline, &proto);
  const TimelineRecord record = TimelineRecordFromProto(proto, timeline);
  std::ostringstream text;
  WriteKineto(record, timeline, text);
  WriteFileAtomically(path, text.str());
  const std::string fingerprint = fmt::format("{:016x}", record.timeline.Fingerprint());
  if (!as_json) {
    out << fmt::format("{}: {} tasks on {} ranks, fingerprint {}\n", path,
                       record.schedule.task_count(), record.schedule.ranks().size(), fingerprint);
    return kExitOk;
  }
  nlohmann::ordered_json report = ReportHeader("export", kSchema, {timeline});
  report["format"] = "kineto";
  report["output"] = path;
  report["tasks"] = record.schedule.task_count();
  report["ranks"] = record.schedule.ranks().size();
  report["fingerprint"] = fingerprint;
  PrintJson(std::move(report), out);
  return kExitOk;
}

}  // namespace stagecraft
