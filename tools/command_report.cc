// report: the page of what other verbs have answered before.
#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <filesystem>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/file_kind.h"
#include "costmodel/json_to_proto.h"
#include "costmodel/proto_file.h"
#include "proto/timeline.pb.h"
#include "sim/schedule/timeline_record.h"
#include "sim/schedule/timeline_record_proto.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/planned_job.h"
#include "tools/flags/sample_flags.h"
#include "tools/report/answer_page.h"
#include "tools/report/plan_page.h"
#include "tools/sweep/run_page.h"
#include "tools/sweep/run_store.h"
#include "tools/train/shown_run.h"
#include "tools/train/train_page.h"
#include "tools/validation/saved_validation.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

struct ReportFlags {
  Args files;
  std::string model, cluster;  // of a plan
  std::string page;
  bool json = false, quiet = false;
};

void Register(Flags& flags, ReportFlags& values) {
  flags.AddExample("report step.json step.pb -o step.html");
  flags.AddExample("report plans.json -o plans.html");
  flags.AddExample("report runs.db -o runs.html");
  flags.AddExample(
      "report examples/stages.yaml --model llama3-8b --cluster h100-sxm:1x4 -o plan.html");
  flags.AddNote(
      "FILEs are what simulate, explain, search, whatif, train or validate printed with --json, "
      "with "
      "for each plan of the first three a timeline that simulate --timeline wrote; the database of "
      "a "
      "sweep; or a plan, as search -o writes it.");
  flags.In(FlagTopic::kInput)
      .Add("FILE", values.files,
           {"",
            "The JSON of a verb, and timelines (.pb) of its plans in their order; a database (.db) "
            "of sweep; or a plan (.yaml, .json or .textproto)."})
      .Required();
  flags.In(FlagTopic::kNetwork)
      .Add("--model", values.model, {"<network>", "With a plan: its network, as for simulate."})
      .Suggest(WorkloadNames);
  flags.In(FlagTopic::kCluster)
      .Add("--cluster", values.cluster,
           {"<cluster>", "With a plan: its cluster, as for simulate."});
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
  } catch (const nlohmann::json::exception&) {
    throw InputError(file + ": is no JSON, want what a verb printed with --json");
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
  Args files = {};  // that were read; empty: FILEs alone
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

// Throws InputError for timelines beside a file that has no plans to which they belong.
void RefuseTimelines(const Saved& saved, const std::string& what) {
  if (saved.timelines.empty()) return;
  throw InputError(
      fmt::format("FILE: got timelines beside {}, {}, want it alone", saved.answer_file, what));
}

Shown ShowAnswer(const Args& files) {
  const Saved saved = Read(files);
  const auto& answer = saved.answer;
  const bool has_verb = answer.is_object() && answer.contains("command");
  if (!has_verb) {
    const std::string kind = KindOfJson(answer);
    if (!kind.empty()) {
      throw InputError(fmt::format("{}: the file is {}, want what a verb printed with --json",
                                   saved.answer_file, kind));
    }
  }
  if (has_verb && answer["command"] == "train") {
    RefuseTimelines(saved, "the JSON of train");
    return {TrainPage(ShownRunFromJson(answer, saved.answer_file)), "train"};
  }
  if (has_verb && answer["command"] == "validate") {
    RefuseTimelines(saved, "the JSON of validate");
    return {ValidationPage(answer, saved.answer_file), "validate"};
  }
  std::vector<ShownStep> steps;
  for (const TimelineRecord& record : saved.timelines) {
    steps.push_back({&record.schedule, &record.timeline});
  }
  std::string page = AnswerPage(answer, steps, saved.answer_file);
  return {std::move(page), answer.at("command").get<std::string>()};
}

// Whether it is a file of a plan: other files are JSON that says which verb printed it.
bool IsPlan(const std::string& file) {
  if (file.ends_with(".pb") || file.ends_with(".db")) return false;
  if (!file.ends_with(".json")) {
    return IsProtoExtension(std::filesystem::path(file).extension().string());
  }
  return KindOfJson(ParseJson(ReadFile(file), file)) == NounOfMessage("PlanProto");
}

Shown ShowPlan(const ReportFlags& values) {
  const std::string& file = values.files[0];
  if (values.files.size() > 1) {
    throw InputError(fmt::format("FILE: got {} files with the plan {}, want it alone",
                                 values.files.size(), file));
  }
  if (values.model.empty() || values.cluster.empty()) {
    throw InputError(fmt::format("{}: got a plan, want its --model and --cluster with it", file));
  }
  Flags flags("report", "Builds the plan as simulate does.");
  PlanFlags plan;
  plan.Register(flags);
  std::ostringstream unused;
  flags.Parse({"--plan", file, "--model", values.model, "--cluster", values.cluster}, unused);
  const PlannedJob job = plan.Build();
  return {PlanPage(job.plan, job.workload, job.cluster,
                   std::filesystem::path(file).filename().string()),
          "plan", job.files};
}

Shown Show(const ReportFlags& values) {
  const Args& files = values.files;
  if (IsPlan(files[0])) return ShowPlan(values);
  for (const auto& [flag, value] :
       {std::pair("--model", values.model), {"--cluster", values.cluster}}) {
    if (!value.empty()) {
      throw InputError(fmt::format("{}: got one without a plan, want a plan as FILE", flag));
    }
  }
  const bool has_database = std::any_of(
      files.begin(), files.end(), [](const std::string& file) { return file.ends_with(".db"); });
  return has_database ? ShowDatabase(files) : ShowAnswer(files);
}

}  // namespace

int RunReport(const Args& args, std::istream&, std::ostream& out, std::ostream&) {
  Flags flags("report", "Writes a page with charts of what another verb has answered.");
  ReportFlags values;
  Register(flags, values);
  if (flags.Parse(args, out)) return kExitOk;
  CheckOutputPath("-o", values.page, {".html"});
  const Shown shown = Show(values);
  WriteFileAtomically(values.page, shown.page);
  if (values.json) {
    const Args& files = shown.files.empty() ? values.files : shown.files;
    nlohmann::ordered_json report = ReportHeader("report", kSchema, files);
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
