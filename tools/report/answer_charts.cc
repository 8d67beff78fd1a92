#include "tools/report/answer_charts.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/report/commas.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kThousand = 1000, kHundredThousand = 1e5, kMostInDigits = 1e15;
constexpr size_t kMostStageRows = 128;  // of the table of stages

// A part of a step or of a memory: its key, its name on the page, and its colour there.
struct Part {
  const char* key;
  const char* name;
  int colour;
};
constexpr Part kTimeParts[] = {
    {"compute", "compute", 0},     {"tp", "tensor parallel", 1}, {"cp", "context parallel", 8},
    {"ep", "expert parallel", 6},  {"pp", "between stages", 2},  {"dp", "between replicas", 3},
    {"optimizer", "optimizer", 4}, {"bubble", "bubble", 7},
};
constexpr Part kMemoryParts[] = {
    {"weights", "weights", 0},     {"gradients", "gradients", 1},
    {"optimizer", "optimizer", 4}, {"activations", "activations", 2},
    {"workspace", "workspace", 3}, {"communication", "communication", 5},
    {"framework", "framework", 6}, {"fragmentation", "fragmentation", 7},
};

// Devices [first, last] of a node.
struct DeviceRange {
  int node = 0, first = 0, last = 0;
};

bool ReadNumber(std::string_view& text, std::string_view before, int* number) {
  if (!text.starts_with(before)) return false;
  text.remove_prefix(before.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error != std::errc() || *number < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

// Reads "node0/gpu3" or "node0/gpu3-5".
std::optional<DeviceRange> ReadRange(std::string_view text) {
  DeviceRange range;
  if (!ReadNumber(text, "node", &range.node) || !ReadNumber(text, "/gpu", &range.first)) {
    return std::nullopt;
  }
  range.last = range.first;
  if (!text.empty() && !ReadNumber(text, "-", &range.last)) return std::nullopt;
  return text.empty() && range.last >= range.first ? std::optional(range) : std::nullopt;
}

// What the page says of a stage beside its number.
std::string StageWords(const Json& answer, size_t stage) {
  const Json& stages = answer.at("plan").at("stages");
  if (stage >= stages.size()) return "";
  const Json& one = stages[stage];
  return fmt::format("{} blocks, tp {}, cp {}", one.at("blocks").get<int64_t>(),
                     one.at("tp").get<int64_t>(), one.at("cp").get<int64_t>());
}

BarsChart PlacementChart(const Json& answer) {
  BarsChart chart{.title = "The plan: stages over devices",
                  .note = "Each bar is a copy of a stage on devices of a node; numbers are stages.",
                  .x = {.label = "GPU of the node (its number)"},
                  .row_label = "",
                  .rows = {},
                  .series = {},
                  .bars = {},
                  .are_apart = true};
  struct Piece {
    DeviceRange range;
    size_t stage, replica;
  };
  std::vector<Piece> pieces;
  std::map<int, int> row_of_node;
  std::map<size_t, int> series_of_stage;
  for (const Json& copy : answer.at("placement")) {
    const auto stage = copy.at("stage").get<size_t>();
    series_of_stage.emplace(stage, 0);
    for (const Json& name : copy.at("devices")) {
      const std::optional<DeviceRange> range = ReadRange(name.get_ref<const std::string&>());
      if (!range) continue;
      row_of_node.emplace(range->node, 0);
      pieces.push_back({*range, stage, copy.at("replica").get<size_t>()});
    }
  }
  for (auto& [node, row] : row_of_node) {
    row = static_cast<int>(chart.rows.size());
    chart.rows.push_back(fmt::format("node{}", node));
  }
  for (auto& [stage, series] : series_of_stage) {
    series = static_cast<int>(chart.series.size());
    chart.series.push_back({fmt::format("stage {}", stage)});
  }
  for (const Piece& piece : pieces) {
    const DeviceRange& range = piece.range;
    const std::string words = StageWords(answer, piece.stage);
    chart.bars.push_back(
        {row_of_node.at(range.node), series_of_stage.at(piece.stage), range.first - 0.5,
         range.last + 0.5, fmt::format("{}", piece.stage),
         fmt::format("stage {}, replica {}{}{}\nnode{}, GPUs {} to {}", piece.stage, piece.replica,
                     words.empty() ? "" : ": ", words, range.node, range.first, range.last)});
  }
  chart.x.min = -0.5;
  for (const ChartBar& bar : chart.bars) chart.x.max = std::max(chart.x.max.value_or(0), bar.end);
  return chart;
}

std::string StageTable(const Json& answer) {
  const Json& stages = answer.at("plan").at("stages");
  std::string html =
      fmt::format("<details>\n<summary>{}</summary>\n<div class=\"wide\">\n<table>\n",
                  stages.size() == 1 ? "The stage as a table"
                                     : fmt::format("The {} stages as a table", stages.size()));
  html += HtmlRow({"stage", "blocks", "tp", "cp", "replicas", "recompute"}, "th");
  for (size_t stage = 0; stage < std::min(stages.size(), kMostStageRows); ++stage) {
    const Json& one = stages[stage];
    html += HtmlRow({fmt::format("{}", stage), NumberText(one.at("blocks")),
                     NumberText(one.at("tp")), NumberText(one.at("cp")),
                     NumberText(one.at("replicas")), one.at("recompute").get<std::string>()},
                    "td");
  }
  html += "</table>\n</div>\n";
  if (stages.size() > kMostStageRows) {
    html += fmt::format("<p>… and {} more</p>\n", stages.size() - kMostStageRows);
  }
  return html + "</details>\n";
}

}  // namespace

std::string NumberText(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_number_integer()) return WithCommas(value.dump());
  const auto number = value.get<double>();
  if (std::abs(number) < kThousand || std::abs(number) > kMostInDigits) {
    return fmt::format("{:.5g}", number);
  }
  return WithCommas(number, std::abs(number) < kHundredThousand ? 1 : 0);
}

std::string DecimalText(const Json& value, int decimals) {
  if (value.is_null()) return "-";
  return WithCommas(value.get<double>(), decimals);
}

std::string PercentText(const Json& share) {
  return share.is_null() ? "-" : fmt::format("{:.1f}\u00a0%", 100 * share.get<double>());
}

std::string PlanCharts(const Json& answer) {
  if (!answer.contains("plan")) return "";
  std::string html;
  if (answer.contains("placement")) {
    const BarsChart chart = PlacementChart(answer);
    if (!chart.bars.empty()) html += ToHtml(chart);
  }
  return html + StageTable(answer);
}

void AddBreakdowns(const std::vector<const Json*>& breakdowns, BarsChart& chart) {
  std::vector<const Part*> parts;  // those that occur
  for (const Part& part : kTimeParts) {
    const bool occurs = std::any_of(breakdowns.begin(), breakdowns.end(),
                                    [&](const Json* one) { return one->value(part.key, 0.0) > 0; });
    if (!occurs) continue;
    parts.push_back(&part);
    chart.series.push_back({part.name, SeriesStyle::kBar, part.colour});
  }
  for (size_t row = 0; row < breakdowns.size(); ++row) {
    std::vector<double> values;
    for (const Part* part : parts) values.push_back(breakdowns[row]->value(part->key, 0.0));
    AddStack(chart, static_cast<int>(row), values);
  }
}

std::string BreakdownChart(const Json& answer) {
  if (!answer.contains("breakdown_ms")) return "";
  BarsChart chart{
      .title = "The step by parts",
      .note = "Of the device that is busiest; exchanges count where nothing hides them.",
      .x = {.label = "time (ms)", .min = 0},
      .row_label = "",
      .rows = {"step"},
      .series = {},
      .bars = {}};
  AddBreakdowns({&answer.at("breakdown_ms")}, chart);
  return chart.bars.empty() ? "" : ToHtml(chart);
}

std::string MemoryChart(const Json& answer) {
  if (!answer.contains("memory") || answer.at("memory").empty()) return "";
  BarsChart chart{.title = "Memory of the stages",
                  .note = "Of the fullest device of each stage; the line is what the device has.",
                  .x = {.label = "memory (GiB)", .min = 0},
                  .row_label = "",
                  .rows = {},
                  .series = {},
                  .bars = {}};
  for (const Part& part : kMemoryParts) {
    chart.series.push_back({part.name, SeriesStyle::kBar, part.colour});
  }
  chart.series.push_back({"capacity", SeriesStyle::kLimit, kGreyColour});
  const int capacity = static_cast<int>(chart.series.size()) - 1;
  for (const Json& stage : answer.at("memory")) {
    const int row = static_cast<int>(chart.rows.size());
    chart.rows.push_back("stage " + NumberText(stage.at("stage")));
    std::vector<double> values;
    for (const Part& part : kMemoryParts) values.push_back(stage.at(part.key).get<double>());
    AddStack(chart, row, values);
    const auto limit = stage.at("capacity").get<double>();
    chart.bars.push_back({row, capacity, 0, limit, "",
                          fmt::format("{}: {:.4g} of {:.4g} GiB on {}", chart.rows.back(),
                                      stage.at("peak").get<double>(), limit,
                                      stage.at("device").get<std::string>())});
  }
  return ToHtml(chart);
}

std::string FactTable(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string html = "<table class=\"facts\">\n";
  for (const auto& [name, value] : facts) html += HtmlRow({name, value}, "td");
  return html + "</table>\n";
}

std::string WarningList(const Json& answer) {
  if (!answer.contains("warnings") || answer.at("warnings").empty()) return "";
  std::string html = "<h2>Notes</h2>\n<ul>\n";
  for (const Json& warning : answer.at("warnings")) {
    html += "<li>" + EscapeXml(warning.get<std::string>()) + "</li>\n";
  }
  return html + "</ul>\n";
}

std::string Provenance(const Json& answer) {
  std::string html = fmt::format("<p class=\"note\">stagecraft {} {}",
                                 EscapeXml(answer.at("tool_version").get<std::string>()),
                                 EscapeXml(answer.at("command").get<std::string>()));
  if (answer.contains("cost_model")) {
    html += "; cost model " + EscapeXml(answer.at("cost_model").get<std::string>());
  }
  for (const Json& file : answer.at("inputs")) {
    html += "; " + EscapeXml(file.at("path").get<std::string>()) + " sha256 " +
            EscapeXml(file.at("sha256").get<std::string>());
  }
  return html + "</p>\n";
}

std::string PlanWords(const Json& plan) {
  std::string words;
  for (const char* degree : {"tp", "pp", "dp", "cp", "ep", "vpp"}) {
    const auto value = plan.at(degree).get<int64_t>();
    if (value > 1 || std::string_view(degree) == "tp" || std::string_view(degree) == "pp" ||
        std::string_view(degree) == "dp") {
      words += fmt::format("{} {}, ", degree, value);
    }
  }
  return words +
         fmt::format("micro-batch {}, {}, recompute {}, ZeRO {}",
                     plan.at("micro_batch").get<int64_t>(), plan.at("schedule").get<std::string>(),
                     plan.at("recompute").get<std::string>(), plan.at("zero").get<int64_t>());
}

}  // namespace stagecraft
