// RunSummary: the best points of a sweep, and what each value of its flags makes of them.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/step/training_cost.h"
#include "tools/sweep/run_costs.h"
#include "tools/sweep/run_row.h"
#include "tools/sweep/run_store.h"

namespace stagecraft {

// What a training run takes, by which points can be ranked, too.
enum class RunTotal { kNone, kDays, kCost };

// A number by which points can be ranked.
struct RankedBy {
  const char* name;  // of --by: "tokens-per-s"
  RunNumber number;  // unless there is a total
  bool wants_most;   // rather than least
  const char* title;
  const char* key = nullptr;  // in JSON; null: that of the number
  RunTotal total = RunTotal::kNone;
};
// All of them; the first is the default.
const std::vector<RankedBy>& Rankings();
// Throws InputError that names --by for another name.
const RankedBy& FindRanking(const std::string& name);

// The points with one value of one flag.
struct ValueSummary {
  std::string value;
  int64_t points = 0;
  int64_t fit = 0;
  // The best and the median value of the number by which points are ranked, among those that fit.
  // If their count is even, the median is the greater of the two in the middle.
  std::optional<double> best, median;
};
struct FlagSummary {
  std::string flag;
  std::vector<ValueSummary> values;  // in the order of the grid
};

// Sentences that differ in numbers alone.
struct ReasonSummary {
  std::string example;  // of the first such point
  int64_t points = 0;
};

struct RunSummary {
  std::string verb;
  int64_t points = 0;  // of the grid
  int64_t fit = 0, misfit = 0, refused = 0;
  std::vector<RunRow> best;  // the best first; equal ones by point
  // What a training run with each of these takes; empty if that is not asked.
  std::vector<std::optional<TrainingCost>> best_costs;
  CostRates rates;                     // that these assume, with the prices of the first
  std::vector<FlagSummary> flags;      // those with several values
  std::vector<ReasonSummary> reasons;  // the most frequent first

  int64_t done() const { return fit + misfit + refused; }
};

// Sums up one grid of a database, with at most `top` best points. Throws what `costs` throws.
RunSummary Summarize(const RunStore& store, int grid, const RankedBy& by, int top, RunCosts& costs);

nlohmann::ordered_json SummaryToJson(const RunSummary& summary, const RankedBy& by);
void PrintSummary(const RunSummary& summary, const RankedBy& by, std::ostream& out);

}  // namespace stagecraft
