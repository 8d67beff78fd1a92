#include "tools/recorded/trace_report.h"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/samples/sample_csv.h"
#include "costmodel/network/collective_table.h"
#include "costmodel/proto_file.h"
#include "sim/analysis/timeline_errors.h"
#include "sim/schedule/timeline_record_proto.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

void CheckEnding(const char* flag, const std::string& path, const char* ending) {
  if (path.empty() || std::filesystem::path(path).extension() == ending) return;
  throw InputError(fmt::format("{}: got \"{}\", want a {} file", flag, path, ending));
}

std::string Sizes(size_t count) { return fmt::format("{} size{}", count, count == 1 ? "" : "s"); }

}  // namespace

TraceReport WriteTraces(const TraceImport& wish, const TraceOutputs& files) {
  CheckEnding("-o", files.timeline, ".pb");
  CheckEnding("--samples", files.samples, ".csv");
  CheckEnding("--collectives", files.collectives, ".csv");
  TraceReport report = {files, ImportTraces(wish)};
  const TraceSamples& samples = report.imported.samples;
  if (!files.samples.empty() && samples.gemms.empty() && samples.attentions.empty()) {
    throw InputError(
        "--samples: got no matrix product and no attention with sizes in the traces, want one: "
        "record them with record_shapes=True, or emit_nvtx(record_shapes=True)");
  }
  if (!files.collectives.empty() && samples.collectives.empty()) {
    throw InputError(
        "--collectives: got no collective with its bytes and ranks in the traces, want "
        "one");
  }
  const TimelineRecord& record = report.imported.timeline.record;
  RequireSound(record, wish.files[0]);
  // Everything is put together before anything is written.
  const std::string timeline = ToProto(record).SerializeAsString();
  std::string kernel_table, collective_table;
  if (!files.samples.empty()) {
    std::vector<Sample> kernels = samples.gemms;
    kernels.insert(kernels.end(), samples.attentions.begin(), samples.attentions.end());
    kernel_table = SamplesToCsv(kernels, files.samples);
  }
  if (!files.collectives.empty()) {
    collective_table = FormatCollectiveTable(samples.collectives, files.collectives);
  }
  WriteFileAtomically(files.timeline, timeline);
  if (!files.samples.empty()) WriteFileAtomically(files.samples, kernel_table);
  if (!files.collectives.empty()) WriteFileAtomically(files.collectives, collective_table);
  return report;
}

void PrintTraceReport(const TraceReport& report, std::ostream& out) {
  out << report.files.timeline << ": " << Describe(report.imported) << '\n';
  PrintClasses(report.imported.timeline.record, out);
  const TraceSamples& samples = report.imported.samples;
  if (!report.files.samples.empty()) {
    out << fmt::format("{}: matrix products of {}", report.files.samples,
                       Sizes(samples.gemms.size()));
    if (!samples.attentions.empty()) out << ", attention of " << Sizes(samples.attentions.size());
    out << '\n';
  }
  if (!report.files.collectives.empty()) {
    out << fmt::format("{}: collectives of {} in their groups\n", report.files.collectives,
                       Sizes(samples.collectives.size()));
  }
  for (const std::string& note : report.imported.notes) out << "  note: " << note << '\n';
}

Json TraceReportToJson(const TraceReport& report) {
  const ImportedTrace& imported = report.imported;
  const TimelineRecord& record = imported.timeline.record;
  Json steps = Json::array();
  for (const Duration step : record.measurement->steps) steps.push_back(step.ms());
  Json json = {{"output", report.files.timeline},
               {"timeline", Describe(imported)},
               {"fingerprint", fmt::format("{:016x}", record.timeline.Fingerprint())},
               {"step_ms", record.timeline.makespan().ms()},
               {"steps_ms", std::move(steps)},
               {"ranks", record.schedule.ranks().size()},
               {"world_size", record.kernels->world_size},
               {"kernels", record.schedule.task_count()},
               {"recorded_kernels", imported.timeline.all_kernels},
               {"kernels_outside_of_steps", imported.timeline.outside_of_steps},
               {"kernels_in_other_steps", imported.timeline.in_other_steps},
               {"op_classes", ClassesToJson(record)}};
  if (!report.files.samples.empty()) {
    const size_t attention = imported.samples.attentions.size();
    json["samples"] = {{"output", report.files.samples},
                       {"rows", imported.samples.gemms.size() + attention},
                       {"attention_rows", attention}};
  }
  if (!report.files.collectives.empty()) {
    json["collectives"] = {{"output", report.files.collectives},
                           {"rows", imported.samples.collectives.size()}};
  }
  json["notes"] = imported.notes;
  return json;
}

}  // namespace stagecraft
