// RunSummary as text and as JSON.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "tools/report/commas.h"
#include "tools/report/training_cost_report.h"
#include "tools/sweep/run_flags.h"
#include "tools/sweep/run_summary.h"
#include "tools/sweep/run_table.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kReasonsShown = 8;
constexpr size_t kValuesShown = 12;  // of one flag

// A number as a table shows it: "-" if it is not known.
std::string Cell(const std::optional<double>& number, int digits) {
  return number ? fmt::format("{:.{}f}", *number, digits) : "-";
}

int DigitsOf(const RankedBy& by) {
  const bool is_share = by.number == RunNumber::kMfu || by.number == RunNumber::kMemoryShare;
  if (by.total != RunTotal::kNone) return by.total == RunTotal::kDays ? 2 : 0;
  return is_share ? 3 : by.number == RunNumber::kStepTime ? 1 : 0;
}

// The days, the energy and, with prices, the money of a training run.
void AddCostCells(const std::optional<TrainingCost>& cost, bool has_prices,
                  std::vector<std::string>& cells) {
  constexpr double kKilowattHoursPerMegawattHour = 1000;
  const bool has_energy = cost && cost->energy_kwh, has_usd = cost && cost->gpu_usd;
  cells.push_back(cost ? AmountText(cost->days()) : "-");
  cells.push_back(has_energy ? AmountText(*cost->energy_kwh / kKilowattHoursPerMegawattHour) : "-");
  if (!has_prices) return;
  cells.push_back(has_usd ? AmountText(*cost->gpu_usd + cost->energy_usd.value_or(0)) : "-");
}

void PrintBest(const RunSummary& summary, const RankedBy& by, std::ostream& out) {
  std::vector<std::string> headings = {"point", "step ms",  "80 % interval", "tokens/s",
                                       "MFU",   "peak GiB", "GPUs"};
  const bool has_costs = !summary.best_costs.empty();
  const bool has_prices = has_costs && !summary.rates.usd_per_gpu_hour.empty();
  if (has_costs) headings.insert(headings.end(), {"days", "MWh"});
  if (has_prices) headings.emplace_back("USD");
  for (const FlagSummary& flag : summary.flags) headings.push_back(flag.flag);
  fmt::print(out, "\nthe best {} by {}\n", summary.best.size() == 1 ? "point" : "points", by.title);
  TextTable table(std::move(headings), 0);
  for (size_t i = 0; i < summary.best.size(); ++i) {
    const RunRow& row = summary.best[i];
    std::vector<std::string> cells = {
        std::to_string(row.point),
        Cell(row[RunNumber::kStepTime], 1),
        Cell(row[RunNumber::kStepTimeLow], 1) + " to " + Cell(row[RunNumber::kStepTimeHigh], 1),
        Cell(row[RunNumber::kTokensPerSecond], 0),
        Cell(row[RunNumber::kMfu], 3),
        Cell(row[RunNumber::kPeakMemory], 1),
        Cell(row[RunNumber::kGpus], 0)};
    if (has_costs) AddCostCells(summary.best_costs[i], has_prices, cells);
    const std::map<std::string, std::string> flags = FlagsOfRow(row);
    for (const FlagSummary& flag : summary.flags) {
      const auto value = flags.find(flag.flag);
      cells.push_back(value == flags.end() ? "-" : value->second);
    }
    table.Add(std::move(cells));
  }
  table.Print(out);
  fmt::print(out, "plan of point {}: {}\n", summary.best[0].point, summary.best[0].plan);
  if (!has_costs) return;
  fmt::print(
      out,
      "energy is that of GPUs that draw their board power all the time, times a PUE of {:g}; "
      "hosts, switches and storage are not counted\n",
      summary.rates.pue);
}

void PrintValues(const RunSummary& summary, const RankedBy& by, std::ostream& out) {
  fmt::print(out, "\nwhat was varied, and {} of the points that fit\n", by.title);
  TextTable table({"flag", "value", "points", "fit", "best", "median"}, 2);
  for (const FlagSummary& flag : summary.flags) {
    for (size_t i = 0; i < flag.values.size() && i < kValuesShown; ++i) {
      const ValueSummary& value = flag.values[i];
      table.Add({i == 0 ? flag.flag : "", value.value.empty() ? "(none)" : value.value,
                 std::to_string(value.points), std::to_string(value.fit),
                 Cell(value.best, DigitsOf(by)), Cell(value.median, DigitsOf(by))});
    }
    if (flag.values.size() > kValuesShown) {
      table.AddText(
          fmt::format("… and {} more values of {}", flag.values.size() - kValuesShown, flag.flag));
    }
  }
  table.Print(out);
}

void PrintReasons(const RunSummary& summary, std::ostream& out) {
  out << "\nwhy points do not fit or are refused\n";
  for (size_t i = 0; i < summary.reasons.size() && i < kReasonsShown; ++i) {
    fmt::print(out, "  {} point{}, such as: {}\n", summary.reasons[i].points,
               summary.reasons[i].points == 1 ? "" : "s", summary.reasons[i].example);
  }
  if (summary.reasons.size() > kReasonsShown) {
    fmt::print(out, "  and {} other reasons\n", summary.reasons.size() - kReasonsShown);
  }
}

Json NumberOrNull(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

}  // namespace

nlohmann::ordered_json SummaryToJson(const RunSummary& summary, const RankedBy& by) {
  Json best = Json::array(), flags = Json::array(), reasons = Json::array();
  for (size_t i = 0; i < summary.best.size(); ++i) {
    best.push_back(RowToJson(summary.best[i]));
    if (summary.best_costs.empty()) continue;
    const std::optional<TrainingCost>& cost = summary.best_costs[i];
    best.back()["run"] = cost ? TotalsToJson(summary.rates, *cost) : Json();
  }
  for (const FlagSummary& flag : summary.flags) {
    Json values = Json::array();
    for (const ValueSummary& value : flag.values) {
      values.push_back({{"value", value.value},
                        {"points", value.points},
                        {"fit", value.fit},
                        {"best", NumberOrNull(value.best)},
                        {"median", NumberOrNull(value.median)}});
    }
    flags.push_back({{"flag", flag.flag}, {"values", std::move(values)}});
  }
  for (const ReasonSummary& reason : summary.reasons) {
    reasons.push_back({{"points", reason.points}, {"example", reason.example}});
  }
  return {
      {"verb", summary.verb},
      {"points", summary.points},
      {"done", summary.done()},
      {"fit", summary.fit},
      {"do_not_fit", summary.misfit},
      {"refused", summary.refused},
      {"ranked_by", by.key != nullptr ? by.key : kRunNumberNames[static_cast<size_t>(by.number)]},
      {"best", std::move(best)},
      {"varied", std::move(flags)},
      {"reasons", std::move(reasons)}};
}

void PrintSummary(const RunSummary& summary, const RankedBy& by, std::ostream& out) {
  fmt::print(out, "{} of {} points of {} are done: {} fit, {} do not fit, {} are refused\n",
             summary.done(), summary.points, summary.verb, summary.fit, summary.misfit,
             summary.refused);
  if (!summary.best.empty()) PrintBest(summary, by, out);
  if (!summary.flags.empty()) PrintValues(summary, by, out);
  if (!summary.reasons.empty()) PrintReasons(summary, out);
}

}  // namespace stagecraft
