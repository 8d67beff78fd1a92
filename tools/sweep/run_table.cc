#include "tools/sweep/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "costmodel/learned/samples/csv_field.h"
#include "tools/sweep/run_flags.h"

namespace stagecraft {
namespace {

void AppendRow(const RunRow& row, const std::vector<std::string>& flags, std::string& csv) {
  csv += std::to_string(row.point);
  const std::map<std::string, std::string> values = FlagsOfRow(row);
  for (const std::string& flag : flags) {
    const auto value = values.find(flag);
    csv += ",";
    if (value != values.end()) csv += CsvField(value->second);
  }
  for (const std::string& text : {std::string(Name(row.outcome)), row.reason, row.plan}) {
    csv += "," + CsvField(text);
  }
  for (const std::optional<double>& number : row.numbers) {
    csv += ",";
    if (number) fmt::format_to(std::back_inserter(csv), "{}", *number);
  }
  csv += "," + row.inputs_hash + "," + row.result_hash + "\n";
}

}  // namespace

std::vector<std::string> FlagColumns(const RunStore& store) {
  std::vector<std::string> columns;
  for (const GridRecord& grid : store.grids()) {
    for (const std::string& flag : FlagsOfDefinition(grid.definition)) {
      if (std::find(columns.begin(), columns.end(), flag) == columns.end()) {
        columns.push_back(flag);
      }
    }
  }
  return columns;
}

std::string RunsToCsv(const RunStore& store) {
  const std::vector<std::string> flags = FlagColumns(store);
  const bool has_several = store.grids().size() > 1;
  std::string csv = has_several ? "grid,point" : "point";
  for (const std::string& flag : flags) csv += "," + flag;
  csv += ",outcome,reason,plan";
  for (const char* name : kRunNumberNames) csv += std::string(",") + name;
  csv += ",inputs_hash,result_hash\n";
  for (size_t grid = 0; grid < store.grids().size(); ++grid) {
    store.ForEachRow(static_cast<int>(grid), [&](const RunRow& row) {
      if (has_several) csv += std::to_string(grid) + ",";
      AppendRow(row, flags, csv);
    });
  }
  return csv;
}

nlohmann::ordered_json RowsToJson(const RunStore& store, int grid) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  store.ForEachRow(grid, [&](const RunRow& row) { rows.push_back(RowToJson(row)); });
  return rows;
}

nlohmann::ordered_json RowToJson(const RunRow& row) {
  nlohmann::ordered_json json{{"point", row.point}, {"flags", FlagsOfRow(row)}};
  json["outcome"] = Name(row.outcome);
  json["reason"] = row.reason;
  json["plan"] = row.plan;
  for (size_t i = 0; i < kRunNumberCount; ++i) {
    json[kRunNumberNames[i]] =
        row.numbers[i] ? nlohmann::ordered_json(*row.numbers[i]) : nlohmann::ordered_json();
  }
  json["inputs_hash"] = row.inputs_hash;
  json["result_hash"] = row.result_hash;
  return json;
}

}  // namespace stagecraft
