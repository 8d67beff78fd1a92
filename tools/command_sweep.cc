#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "tools/flags/cost_flags.h"
#include "tools/flags/sample_flags.h"
#include "tools/sweep/run_costs.h"
#include "tools/sweep/run_page.h"
#include "tools/sweep/run_store.h"
#include "tools/sweep/run_summary.h"
#include "tools/sweep/run_table.h"
#include "tools/sweep/sweep.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

struct SweepFlags {
  SweepRequest request;
  std::string list, csv, page, by = Rankings()[0].name;
  CostFlags cost;
  int top = 10;
  bool json = false;
};

void Register(Flags& flags, SweepFlags& values) {
  flags.AddExample("sweep examples/grid.yaml -o runs.db");
  flags.AddExample("sweep --list runs.db --by mfu --csv runs.csv");
  flags.In(FlagTopic::kInput)
      .Add("GRID", values.request.grid,
           {"",
            "The grid file, a .yaml, .json or .textproto file: flags of simulate or search, "
            "each with one value, a list or a range."});
  flags.In(FlagTopic::kInput)
      .Add("--reuse", values.request.reuse,
           {"<runs.db>...",
            "Databases of other sweeps: points with the same flags and files, by the same version "
            "of the program, take their rows and are not evaluated again."})
      .Common();
  FlagGroup output = flags.In(FlagTopic::kOutput);
  output
      .Add("-o,--output", values.request.output,
           {"<runs.db>",
            "The SQLite database of results. If it holds some of this grid's points, the others "
            "are added."})
      .Common();
  output
      .Add("--list", values.list,
           {"<runs.db>", "In place of a sweep: report what a database holds."})
      .Common();
  output.Add("--csv", values.csv, {"<file.csv>", "Write all rows as a table."}).Common();
  output
      .Add(
          "--report", values.page,
          {"<file.html>",
           "Write a page with charts of all points: throughput over GPUs and memory, and what each "
           "flag does."})
      .Common();
  Args rankings;
  for (const RankedBy& ranking : Rankings()) rankings.emplace_back(ranking.name);
  output.Add("--by", values.by, {"<name>", "What makes a point the best.", "", values.by})
      .Suggest(std::move(rankings))
      .Common();
  output.Add("--top", values.top, {"<n>", "How many of the best points to show.", "", "10"})
      .Between(1, 1000)
      .Common();
  FlagGroup search = flags.In(FlagTopic::kSearch);
  search
      .Add("--threads", values.request.threads,
           {"<n>", "Threads that evaluate points.", "", "one for each processor"})
      .Between(1, 4096)
      .Common();
  search
      .Add("--shard", values.request.shard,
           {"<i/n>", "Sweep only this share of the points, from 0/n to (n-1)/n; merge joins them.",
            "", "that of a Slurm array, or all points"})
      .Common();
  search
      .Add("--shards", values.request.shards,
           {"<n>", "In an indexed job of Kubernetes: its number of completions."})
      .Common();
  values.cost.Register(flags);
  flags.AddReporting(values.json, values.request.is_quiet);
}

void CheckFlags(const SweepFlags& flags) {
  if (flags.request.grid.empty() == flags.list.empty()) {
    throw InputError(flags.request.grid.empty()
                         ? "GRID: got none, want a grid file, or --list runs.db"
                         : "--list: got it with a grid file, want one of them");
  }
  if (!flags.list.empty() && !flags.request.output.empty()) {
    throw InputError("-o: got it with --list, which writes no database");
  }
  if (!flags.list.empty() && !flags.request.reuse.empty()) {
    throw InputError("--reuse: got it with --list, which evaluates nothing");
  }
  if (flags.list.empty() && flags.request.output.empty()) {
    throw InputError("-o: got none, want the database to write, such as runs.db");
  }
  if (!flags.csv.empty()) CheckOutputPath("--csv", flags.csv, {".csv"});
  if (!flags.page.empty()) CheckOutputPath("--report", flags.page, {".html"});
}

// Prices are of a training run, whose length --tokens says.
void CheckCost(const Flags& flags, const RankedBy& by) {
  if (flags.IsGiven("--tokens")) {
    if (by.total != RunTotal::kCost || flags.IsGiven("--price")) return;
    throw InputError("--by: got cost without --price, want both");
  }
  if (by.total != RunTotal::kNone) {
    throw InputError(fmt::format("--by: got {} without --tokens, want both", by.name));
  }
  if (flags.IsGiven("--price")) {
    throw InputError("--price: got it without --tokens, want both or none");
  }
}

// Prints what a database holds, and writes its table and its page. Returns the summary of its last
// grid.
RunSummary Report(const SweepFlags& flags, const std::string& path, std::ostream& out,
                  std::ostream& err) {
  const RankedBy& by = FindRanking(flags.by);
  const RunStore store = RunStore::Read(path);
  RunCosts costs(flags.cost);
  RunSummary last;
  nlohmann::ordered_json report;
  if (flags.json) {
    report = ReportHeader("sweep", kSchema,
                          flags.request.grid.empty() ? Args{} : Args{flags.request.grid});
    report["database"] = path;
  }
  for (size_t grid = 0; grid < store.grids().size(); ++grid) {
    last = Summarize(store, static_cast<int>(grid), by, flags.top, costs);
    const GridRecord& record = store.grids()[grid];
    if (flags.json) {
      nlohmann::ordered_json one{{"grid_hash", record.hash}, {"tool_version", record.tool_version}};
      one.update(SummaryToJson(last, by));
      if (!flags.list.empty()) one["rows"] = RowsToJson(store, static_cast<int>(grid));
      report["grids"].push_back(std::move(one));
      continue;
    }
    if (grid > 0) out << '\n';
    if (store.grids().size() > 1) {
      out << fmt::format("grid {}, by stagecraft {}\n", grid, record.tool_version);
    }
    PrintSummary(last, by, out);
  }
  if (flags.json) PrintJson(std::move(report), out);
  if (!flags.csv.empty()) {
    WriteFileAtomically(flags.csv, RunsToCsv(store));
    if (!flags.request.is_quiet) err << "wrote " << flags.csv << '\n';
  }
  if (!flags.page.empty()) {
    WriteFileAtomically(flags.page, RunsPage(store, path));
    if (!flags.request.is_quiet) err << "wrote " << flags.page << '\n';
  }
  return last;
}

int SweepGrid(const SweepFlags& flags, std::ostream& out, std::ostream& err) {
  Sweep sweep(flags.request, err);
  RunCosts(flags.cost).Check(sweep.grid());
  if (!sweep.Run()) {
    if (sweep.is_first_rank() && !flags.request.is_quiet) {
      err << "interrupted: " << sweep.path() << " keeps what is done; the same command goes on\n";
    }
    return kExitInterrupted;
  }
  if (!sweep.is_first_rank()) return kExitOk;
  std::ostringstream text;
  const RunSummary summary = Report(flags, sweep.path(), text, err);
  const bool has_failed = summary.fit == 0 && summary.done() > 0 && sweep.takes_all_points();
  if (has_failed && summary.misfit == 0) {
    throw InputError(fmt::format("{}: none of its {} points can be evaluated; most of all: {}",
                                 flags.request.grid, summary.points, summary.reasons[0].example));
  }
  out << text.str();
  return has_failed ? kExitInfeasible : kExitOk;
}

}  // namespace

int RunSweep(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags flags("sweep",
              "Simulates or searches every point of a grid, and keeps the results in a database.");
  SweepFlags values;
  Register(flags, values);
  if (flags.Parse(args, out)) return kExitOk;
  CheckFlags(values);
  CheckCost(flags, FindRanking(values.by));
  if (values.list.empty()) return SweepGrid(values, out, err);
  Report(values, values.list, out, err);
  return kExitOk;
}

}  // namespace stagecraft
