// whatif: what changes of the cluster, the plan or the prices do to a step.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "tools/flags/cost_flags.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/network_flags.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/sample_flags.h"
#include "tools/flags/search_flags.h"
#include "tools/flags/slow_flag.h"
#include "tools/report/answer_page.h"
#include "tools/study/point_files.h"
#include "tools/study/study_point.h"
#include "tools/study/study_search.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/interrupt_catcher.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"
#include "tools/whatif/answerers.h"
#include "tools/whatif/change.h"
#include "tools/whatif/what_if.h"
#include "tools/whatif/what_if_report.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;
constexpr size_t kMostChanges = 1000;
constexpr size_t kMostPairedChanges = 100;

// The flags of whatif itself; all others are those of a point.
constexpr std::array kOwnFlags = {"change", "pairs", "best", "report", "json", "quiet"};

struct WhatIfFlags {
  std::vector<std::string> changes;
  bool pairs = false, best = false, json = false, quiet = false;
  std::string page;
  // The flags of a plan are those of search with --best, and otherwise those of simulate.
  PlanFlags plan;
  SlowFlag slow;
  NetworkFlags network;
  CostFlags cost;
  SearchFlags search;
  CostModelFlag cost_model;

  void Register(Flags& flags, bool searches) {
    flags.AddExample(
        "whatif --model llama3-70b --cluster h100-sxm:8x8 --tp 8 --pp 4 --global-batch 512 --seq "
        "8192 --change network=0.5x --change gpu=h200-sxm --change node3=0.8x --pairs");
    flags.AddExample(
        "whatif --best --model llama3-70b --cluster h100-sxm:32x8 --global-batch 1024 --seq 4096 "
        "--tokens 1T --price h100-sxm=2.9,a100-sxm4-80gb=1.8 --change "
        "cluster=a100-sxm4-80gb:64x8");
    FlagGroup group = flags.In(FlagTopic::kInput);
    group
        .Add("--change", changes,
             {"<name=value>...",
              "A change (below), or several that belong together, with semicolons between them. "
              "May be repeated; each is made by itself."})
        .Required()
        .Common();
    group.Add("--pairs", pairs, {"", "Also make every two changes together."}).Common();
    group
        .Add("--best", best,
             {"", "Search the best plan anew for each change, with the flags of search."})
        .Common();
    flags.AddTerm("gpu=h200-sxm", "the same nodes with other GPUs");
    flags.AddTerm("nodes=2x, nodes=16", "more or fewer nodes");
    flags.AddTerm("network=0.5x, links=2x", "bandwidths between nodes, or inside nodes");
    flags.AddTerm("memory=1.5x", "the memory of GPUs");
    flags.AddTerm("node3=0.8x", "a slow node, GPU (node3/gpu1) or link, as with --slow");
    flags.AddTerm("seq=32k, tp=4, price=2", "any other flag, with or without dashes");
    flags.AddTerm("global-batch=2x", "a multiple of the number that the flag is given");
    if (searches) {
      search.Register(flags);
    } else {
      plan.Register(flags);
      slow.Register(flags);
      network.Register(flags);
      cost.Register(flags, /*is_common=*/false);
    }
    cost_model.Register(flags);
    flags.In(FlagTopic::kOutput)
        .Add("--report", page,
             {"<file.html>", "Write a page with charts of all changes, and their reasons."});
    flags.AddReporting(json, quiet);
  }
};

bool IsOwn(const Flag& flag) {
  return std::any_of(kOwnFlags.begin(), kOwnFlags.end(),
                     [&](const char* name) { return flag.name() == std::string("--") + name; });
}

// The flags of points.
std::vector<Flag> FlagsOfPoints(const Flags& flags) {
  std::vector<Flag> all = flags.All();
  std::erase_if(
      all, [](const Flag& flag) { return IsOwn(flag) || !IsFlagOfPoints(flag.name().substr(2)); });
  return all;
}

StudyPoint GivenPoint(const Flags& flags) {
  StudyPoint point;
  for (const Flag& flag : flags.Given()) {
    if (IsOwn(flag)) continue;
    const std::string name = flag.name().substr(2);
    if (!IsFlagOfPoints(name)) {
      throw InputError(flag.name() +
                       ": got it with --best, which shows one plan for each change, want search");
    }
    point.flags[name] = fmt::format("{}", fmt::join(flag.values(), ","));
  }
  return point;
}

std::vector<Change> ChangesOf(const WhatIfFlags& asked, const Flags& flags) {
  const size_t most = asked.pairs ? kMostPairedChanges : kMostChanges;
  if (asked.changes.size() > most) {
    throw InputError(fmt::format("--change: got {}, want at most {}{}", asked.changes.size(), most,
                                 asked.pairs ? " with --pairs" : ""));
  }
  const std::vector<Flag> of_points = FlagsOfPoints(flags);
  std::vector<Change> changes;
  for (const std::string& text : asked.changes) {
    const auto is_same = [&](const Change& other) { return other.text == text; };
    if (std::any_of(changes.begin(), changes.end(), is_same)) {
      throw InputError(fmt::format("--change {}: got it twice, want it once", text));
    }
    changes.push_back(ReadChange(text, of_points));
  }
  return changes;
}

// The files that any point names, each once.
Args FilesOf(const WhatIfTable& table) {
  Args files;
  const auto add = [&](const StudyPoint& point) {
    for (const auto& [name, value] : point.flags) {
      if (ParseNumber<double>(value)) continue;
      for (const std::string& file : FilesNamedBy(value)) {
        if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
      }
    }
  };
  add(table.base.point);
  for (const WhatIfRow& row : table.rows) add(row.point);
  return files;
}

}  // namespace

int RunWhatIf(const Args& args, std::istream&, std::ostream& out, std::ostream&) {
  // Which flags there are depends on --best, so it is looked for before they are parsed.
  const bool searches = std::find(args.begin(), args.end(), "--best") != args.end();
  Flags flags("whatif",
              "Says what changes of the cluster, the plan or the prices do to a training step, one "
              "at a time and in pairs, and why.");
  WhatIfFlags asked;
  asked.Register(flags, searches);
  if (flags.Parse(args, out)) return kExitOk;
  if (asked.best != searches) throw InputError("--best: got it with a value, want it without one");

  if (!asked.page.empty()) CheckOutputPath("--report", asked.page, {".html"});
  const std::vector<Change> changes = ChangesOf(asked, flags);
  std::optional<InterruptCatcher> catcher;
  if (searches) catcher.emplace();
  const std::unique_ptr<Answerer> answerer =
      searches ? SearchingAnswerer(InterruptCatcher::flag()) : SimulatingAnswerer();
  const WhatIfTable table = WhatIf(GivenPoint(flags), changes, asked.pairs, *answerer);
  const bool was_interrupted = searches && InterruptCatcher::was_interrupted();
  nlohmann::ordered_json report;
  if (asked.json || !asked.page.empty()) {
    report = ReportHeader("whatif", kSchema, FilesOf(table));
    report["cost_model"] = asked.cost_model.name();
    report["seed"] = searches ? asked.search.seed() : 0;  // no draws without a search
    report.update(WhatIfToJson(table, searches ? "search" : "simulate"));
    report["interrupted"] = was_interrupted;
  }
  if (!asked.page.empty()) WriteFileAtomically(asked.page, AnswerPage(report, {}, "whatif"));
  if (asked.json) {
    PrintJson(std::move(report), out);
  } else {
    PrintWhatIf(table, out);
  }
  return was_interrupted ? kExitInterrupted : kExitOk;
}

}  // namespace stagecraft
