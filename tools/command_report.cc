// report: the page of what other verbs have answered before.
#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "proto/timeline.pb.h"
#include "sim/schedule/timeline_record.h"
#include "sim/schedule/timeline_record_proto.h"
#include "tools/flags/sample_flags.h"
#include "tools/report/answer_page.h"
#include "tools/sweep/run_page.h"
#include "tools/sweep/run_store.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

struct ReportFlags {
  Args files;
  std::string page;
  bool json = false, quiet = false;
};

void Register(Flags& flags, ReportFlags& values) {
  flags.AddExample("report step.json step.pb -o step.html");
  flags.AddExample("report plans.json -o plans.html");
  flags.AddExample("report runs.db -o runs.html");
  flags.AddNote(
      "FILEs are what simulate, explain or search printed with --json, and for each of its plans a "
      "timeline that simulate --timeline wrote; or the database of a sweep.");
  flags.In(FlagTopic::kInput)
      .Add("FILE", values.files,
           {"",
            "The JSON of a verb, and timelines (.pb) of its plans in their order; or a database "
            "(.db) of sweep."})
      .Required();
  flags.In(FlagTopic::kOutput)
      .Add("-o,--output", values.page, {"<file.html>", "Where the page is written."})
      .Required()
      .Common();
  flags.AddReporting(values.json, values.quiet);
}

// What the files say.
struct Saved {
  std::string answer_file;  // empty: none yet
  nlohmann::ordered_json answer;
  std::vector<TimelineRecord> timelines;
};

TimelineRecord ReadTimeline(const std::string& file) {
  TimelineProto proto;
  ReadProtoFile(file, &proto);
  return TimelineRecordFromProto(proto, file);
}

nlohmann::ordered_json ReadAnswer(const std::string& file) {
  try {
    return nlohmann::ordered_json::parse(ReadFile(file));
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: is no JSON ({})", file, error.what()));
  }
}

Saved Read(const Args& files) {
  Saved saved;
  for (const std::string& file : files) {
    if (file.ends_with(".pb")) {
      saved.timelines.push_back(ReadTimeline(file));
      continue;
    }
    if (!saved.answer_file.empty()) {
      throw InputError(
          fmt::format("FILE: got {} and {}, want the JSON of one verb", saved.answer_file, file));
    }
    saved.answer = ReadAnswer(file);
    saved.answer_file = file;
  }
  if (saved.answer_file.empty()) {
    throw InputError("FILE: got timelines alone, want also the JSON that the same verb printed");
  }
  return saved;
}

// The page, and the verb whose answer it shows.
struct Shown {
  std::string page;
  std::string verb;
};

Shown ShowDatabase(const Args& files) {
  if (files.size() > 1) {
    throw InputError(
        fmt::format("FILE: got {} files, want a database of sweep alone; merge joins "
                    "several",
                    files.size()));
  }
  return {RunsPage(RunStore::Read(files[0]), files[0]), "sweep"};
}

Shown ShowAnswer(const Args& files) {
  const Saved saved = Read(files);
  std::vector<ShownStep> steps;
  for (const TimelineRecord& record : saved.timelines) {
    steps.push_back({&record.schedule, &record.timeline});
  }
  std::string page = AnswerPage(saved.answer, steps, saved.answer_file);
  return {std::move(page), saved.answer.at("command").get<std::string>()};
}

}  // namespace

int RunReport(const Args& args, std::istream&, std::ostream& out, std::ostream&) {
  Flags flags("report", "Writes a page with charts of what another verb has answered.");
  ReportFlags values;
  Register(flags, values);
  if (flags.Parse(args, out)) return kExitOk;
  CheckOutputPath("-o", values.page, {".html"});
  const bool has_database =
      std::any_of(values.files.begin(), values.files.end(),
                  [](const std::string& file) { return file.ends_with(".db"); });
  const Shown shown = has_database ? ShowDatabase(values.files) : ShowAnswer(values.files);
  WriteFileAtomically(values.page, shown.page);
  if (values.json) {
    nlohmann::ordered_json report = ReportHeader("report", kSchema, values.files);
    report["page"] = values.page;
    report["bytes"] = shown.page.size();
    report["of"] = shown.verb;
    PrintJson(std::move(report), out);
  } else {
    fmt::print(out, "{}: {} bytes, the page of {}\n", values.page, shown.page.size(), shown.verb);
  }
  return kExitOk;
}

}  // namespace stagecraft
