#include "tools/whatif/what_if_report.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "sim/cluster/cluster_spec.h"
#include "tools/report/commas.h"
#include "tools/report/plan_report.h"
#include "tools/report/step_report.h"
#include "tools/report/training_cost_report.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

constexpr double kKilowattHoursPerMegawattHour = 1000;

const Evaluation* EvaluationOf(const WhatIfRow& row) {
  return row.answer.step ? &row.answer.step->step.evaluation : nullptr;
}

double TokensPerSecond(const Evaluation& evaluation) {
  return evaluation.tokens / evaluation.step_time.seconds();
}

std::vector<std::string> TextsOf(const WhatIfTable& table, const WhatIfRow& row) {
  std::vector<std::string> texts;
  for (const size_t index : row.changes) texts.push_back(table.changes[index].text);
  return texts;
}

std::string NameOf(const WhatIfTable& table, const WhatIfRow& row) {
  if (row.changes.empty()) return "as given";
  return fmt::format("{}", fmt::join(TextsOf(table, row), " and "));
}

// Returns by how many percent `value` exceeds `base`; no value if `base` is not above 0.
std::optional<double> PercentOver(double value, double base) {
  return base > 0 ? std::optional(100 * (value / base - 1)) : std::nullopt;
}

std::string Signed(std::optional<double> percent) {
  if (!percent) return "";
  const bool is_zero = std::abs(*percent) < 0.05;
  return is_zero ? "0.0 %" : fmt::format("{:+.1f} %", *percent);
}

// What is asked about cost of any row: the columns that the table has.
struct CostColumns {
  bool run = false;
  bool usd = false;
};

CostColumns ColumnsOf(const WhatIfTable& table) {
  CostColumns columns;
  const auto add = [&](const WhatIfRow& row) {
    if (!row.answer.step) return;
    const CostQuestion& cost = row.answer.step->job.cost;
    columns.run |= cost.tokens > 0;
    columns.usd |= !cost.rates.usd_per_gpu_hour.empty();
  };
  add(table.base);
  for (const WhatIfRow& row : table.rows) add(row);
  return columns;
}

Cells Headings(const CostColumns& columns) {
  Cells cells = {"change", "GPUs", "step ms", "", "tokens/s", ""};
  if (columns.run) cells.insert(cells.end(), {"days", "MWh"});
  if (columns.usd) cells.emplace_back(columns.run ? "USD" : "USD/10^9 tokens");
  cells.insert(cells.end(), {"peak GiB", "of", "fits"});
  return cells;
}

// The cells of cost; empty where it is not known.
Cells CostCells(const WhatIfRow& row, const CostColumns& columns) {
  const Explanation& step = *row.answer.step;
  const Evaluation& evaluation = step.step.evaluation;
  const CostQuestion& cost = step.job.cost;
  const double billion = 1e9 / evaluation.tokens;
  const bool has_run = cost.tokens > 0;
  const TrainingCost total =
      CostOfSteps(evaluation, step.job.cluster, cost.rates,
                  has_run ? StepsOfTokens(evaluation, cost.tokens) : billion);
  Cells cells;
  if (columns.run) {
    cells.push_back(has_run ? AmountText(total.days()) : "");
    cells.push_back(has_run && total.energy_kwh
                        ? AmountText(*total.energy_kwh / kKilowattHoursPerMegawattHour)
                        : "");
  }
  if (columns.usd) {
    const bool is_known = total.gpu_usd && has_run == columns.run;
    const double usd = total.gpu_usd.value_or(0) + total.energy_usd.value_or(0);
    cells.push_back(is_known ? AmountText(usd) : "");
  }
  return cells;
}

Cells CellsOf(const WhatIfTable& table, const WhatIfRow& row, const CostColumns& columns) {
  Cells cells = {NameOf(table, row)};
  const Evaluation* const evaluation = EvaluationOf(row);
  if (evaluation == nullptr) {
    cells.resize(Headings(columns).size());
    cells.back() = row.answer.refusal.empty() ? "no" : "refused";
    return cells;
  }
  const Evaluation* const base = row.changes.empty() ? nullptr : EvaluationOf(table.base);
  const StageMemory& stage = TightestStage(*row.answer.step);
  cells.push_back(fmt::format("{}", evaluation->devices));
  cells.push_back(fmt::format("{:.1f}", evaluation->step_time.ms()));
  cells.push_back(base == nullptr ? ""
                                  : Signed(PercentOver(evaluation->step_time.seconds(),
                                                       base->step_time.seconds())));
  cells.push_back(AmountText(TokensPerSecond(*evaluation)));
  cells.push_back(base == nullptr
                      ? ""
                      : Signed(PercentOver(TokensPerSecond(*evaluation), TokensPerSecond(*base))));
  for (std::string& cell : CostCells(row, columns)) cells.push_back(std::move(cell));
  cells.push_back(fmt::format("{:.1f}", stage.Peak().gib()));
  cells.push_back(fmt::format("{:.1f}", stage.capacity.gib()));
  cells.emplace_back(evaluation->fits ? "yes" : "no");
  return cells;
}

Json RowToJson(const WhatIfTable& table, const WhatIfRow& row, const std::string& verb) {
  Json json;
  if (!row.changes.empty()) json["changes"] = TextsOf(table, row);
  json["command_line"] = CommandLineOf(verb, row.point);
  if (!row.answer.refusal.empty()) json["refusal"] = row.answer.refusal;
  if (row.answer.is_searched) json["optimal"] = row.answer.is_best;
  if (!row.answer.obstacle.empty()) json["obstacle"] = row.answer.obstacle;
  if (row.answer.step) {
    const PlannedJob& job = row.answer.step->job;
    const SimulatedStep& step = row.answer.step->step;
    json["model"] = job.workload.name;
    json["cluster"] = DescribeCluster(job.cluster);
    json.update(
        EvaluationToJson(step.evaluation, step.plan, job.workload, job.cluster, job.margin));
    json["cost"] = CostToJson(job.cost, job.cluster, step.evaluation);
    json["plan"] = PlanToJson(step.plan, job.workload);
    json["warnings"] = job.warnings;
  }
  const Evaluation* const base = EvaluationOf(table.base);
  const Evaluation* const evaluation = EvaluationOf(row);
  if (!row.changes.empty() && base != nullptr && evaluation != nullptr) {
    json["step_time_change_percent"] =
        *PercentOver(evaluation->step_time.seconds(), base->step_time.seconds());
    json["tokens_per_s_change_percent"] =
        *PercentOver(TokensPerSecond(*evaluation), TokensPerSecond(*base));
  }
  if (!row.changes.empty()) json["why"] = row.why;
  return json;
}

}  // namespace

nlohmann::ordered_json WhatIfToJson(const WhatIfTable& table, const std::string& verb) {
  Json rows = Json::array();
  for (const WhatIfRow& row : table.rows) rows.push_back(RowToJson(table, row, verb));
  return {{"base", RowToJson(table, table.base, verb)}, {"changes", std::move(rows)}};
}

void PrintWhatIf(const WhatIfTable& table, std::ostream& out) {
  if (table.base.answer.step) {
    PlannedJob job = table.base.answer.step->job;
    job.plan = table.base.answer.step->step.plan;
    PrintPlan(job, out);
  } else {
    fmt::print(out, "as given no plan fits; nearest plan: {}\n\n", table.base.answer.obstacle);
  }
  const CostColumns columns = ColumnsOf(table);
  TextTable lines(Headings(columns), 1);
  lines.Add(CellsOf(table, table.base, columns));
  for (const WhatIfRow& row : table.rows) lines.Add(CellsOf(table, row, columns));
  lines.Print(out);
  fmt::print(out, "\nwhy\n");
  for (const WhatIfRow& row : table.rows) {
    if (!row.why.empty()) fmt::print(out, "  {}: {}\n", NameOf(table, row), row.why);
  }
  if (!table.base.answer.step) return;
  const Explanation& base = *table.base.answer.step;
  for (const std::string& warning : base.job.warnings) fmt::print(out, "note: {}\n", warning);
  if (base.job.cost.tokens > 0) {
    fmt::print(out, "note: {}\n",
               EnergyNote(base.job.cost.rates, base.job.cluster, base.step.evaluation));
  }
}

}  // namespace stagecraft
