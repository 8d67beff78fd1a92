#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tools/sweep/merge_runs.h"
#include "tools/sweep/run_store.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

// Prints how many points of each grid the new database has.
void PrintMerged(const RunStore& store, std::ostream& out) {
  for (size_t i = 0; i < store.grids().size(); ++i) {
    const GridRecord& grid = store.grids()[i];
    const int64_t rows = store.CountRows(static_cast<int>(i));
    const std::string missing =
        rows == grid.points ? "" : fmt::format(", {} are missing", grid.points - rows);
    out << fmt::format("grid {} by stagecraft {}: {} of {} points{}\n", i, grid.tool_version, rows,
                       grid.points, missing);
  }
}

nlohmann::ordered_json MergedToJson(const RunStore& store) {
  nlohmann::ordered_json grids = nlohmann::ordered_json::array();
  for (size_t i = 0; i < store.grids().size(); ++i) {
    const GridRecord& grid = store.grids()[i];
    grids.push_back({{"grid_hash", grid.hash},
                     {"tool_version", grid.tool_version},
                     {"points", grid.points},
                     {"done", store.CountRows(static_cast<int>(i))}});
  }
  return grids;
}

}  // namespace

int RunMerge(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags flags("merge", "Joins the databases that the shards of a sweep wrote.");
  flags.AddExample("merge runs.0-of-2.db runs.1-of-2.db -o runs.db");
  flags.AddExample("merge may.db june.db -o all.db --allow-other-grids");
  std::vector<std::string> sources;
  std::string output;
  MergeRules rules;
  bool json = false, quiet = false;
  flags.In(FlagTopic::kInput)
      .Add("DB", sources, {"", "Databases that sweep wrote. They stay as they are."})
      .Required();
  FlagGroup group = flags.In(FlagTopic::kOutput);
  group.Add("-o,--output", output, {"<all.db>", "The new database, a file that does not exist."})
      .Required()
      .Common();
  group.Add("--allow-other-grids", rules.allows_other_grids,
            {"", "Keep the points of several grids in one database."});
  group.Add("--allow-other-versions", rules.allows_other_versions,
            {"", "Join what several versions of stagecraft, or of its cost models, predicted."});
  flags.AddReporting(json, quiet);
  if (flags.Parse(args, out)) return kExitOk;

  MergeRuns(sources, output, rules);
  if (!quiet) err << "wrote " << output << '\n';
  const RunStore store = RunStore::Read(output);
  if (json) {
    nlohmann::ordered_json report = ReportHeader("merge", kSchema, sources);
    report["database"] = output;
    report["grids"] = MergedToJson(store);
    PrintJson(std::move(report), out);
  } else {
    PrintMerged(store, out);
  }
  return kExitOk;
}

}  // namespace stagecraft
