#include "tools/report/search_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/report/answer_charts.h"
#include "tools/report/curve_charts.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostParts = 20;    // plans whose parts are drawn
constexpr size_t kMostListed = 200;  // plans of the table

// A number of a plan, by the words of the page.
struct Quantity {
  std::string label;  // with the unit
  std::vector<double> values;
};

std::string Head(const Json& answer) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"objective", answer.at("objective").get<std::string>()},
      {"algorithm", answer.at("algorithm").get<std::string>()},
      {"among", answer.at("space").get<std::string>()},
      {"plans looked at", NumberText(answer.at("candidates"))},
      {"evaluated", NumberText(answer.at("evaluated"))},
      {"of these fit", NumberText(answer.at("feasible"))},
      {"proven", answer.at("optimal").get<bool>() ? "yes" : "no"}};
  if (answer.contains("obstacle")) {
    facts.emplace_back("nearest plan", answer.at("obstacle").get<std::string>());
  }
  return FactTable(facts);
}

std::string PlanTable(const Json& plans) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < std::min(plans.size(), kMostListed); ++i) {
    const Json& step = plans[i].at("evaluation");
    rows.push_back({fmt::format("{}", i + 1), PlanWords(plans[i].at("plan")),
                    NumberText(step.at("gpus")), DecimalText(step.at("step_time_ms"), 1),
                    DecimalText(step.at("tokens_per_s"), 0), PercentText(step.at("mfu")),
                    DecimalText(step.at("peak_memory_gib"), 2),
                    DecimalText(plans[i].at("cost").at("gpu_hours_per_billion_tokens"), 2)});
  }
  std::string html = HtmlCards({"plan", "choices", "GPUs", "step (ms)", "tokens/s", "MFU",
                                "memory (GiB)", "GPU-hours per 10⁹ tokens"},
                               rows, CardCells::kNumbersFromThird);
  if (plans.size() > kMostListed) {
    html += fmt::format("<p>… and {} more</p>\n", plans.size() - kMostListed);
  }
  return html;
}

// What the search says of plans that its prediction cannot tell apart.
std::string TieWords(const Json& answer) {
  if (!answer.contains("tie") || answer.at("tie").at("plans").size() < 2) return "";
  const Json& tie = answer.at("tie");
  if (tie.at("tied") == 1) {
    const Json& second = tie.at("plans").at(1);
    return fmt::format(
        "<p>No tie: the next plan is {:.2f} % worse, and the difference is uncertain by {:.2f} % "
        "(80 % interval).</p>\n",
        100 * second.at("loss").get<double>(), 100 * second.at("uncertainty").get<double>());
  }
  std::string words = fmt::format(
      "A tie: {} of these plans differ by less than their difference is uncertain (80 % interval).",
      NumberText(tie.at("tied")));
  if (tie.at("preferred_rank") != 1) {
    words += fmt::format(" Prefer plan {}:", NumberText(tie.at("preferred_rank")));
    const char* before = " ";
    for (const Json& reason : tie.at("reasons")) {
      words += before + reason.get<std::string>();
      before = "; ";
    }
    words += ".";
  }
  return "<p>" + EscapeXml(words) + "</p>\n";
}

std::string Tip(const Json& plans, size_t i, const Quantity& x, const Quantity& y) {
  return fmt::format("plan {}: {}\n{}: {:.5g}\n{}: {:.5g}", i + 1, PlanWords(plans[i].at("plan")),
                     x.label, x.values[i], y.label, y.values[i]);
}

// Plans by two quantities, of both of which less is better, and the line through those that no
// other beats in both.
std::string FrontChart(const Json& plans, const std::string& title, const Quantity& x,
                       const Quantity& y) {
  PointsChart chart{.title = title,
                    .note =
                        "Less is better in both; the line joins the plans that no other plan "
                        "here beats in both.",
                    .x = {.label = x.label},
                    .y = {.label = y.label},
                    .series = {{"not beaten", SeriesStyle::kSteps, 0}},
                    .points = {}};
  std::vector<size_t> order(plans.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(x.values[a], y.values[a]) < std::pair(x.values[b], y.values[b]);
  });
  std::optional<double> least;
  for (const size_t i : order) {
    const bool is_best = !least || y.values[i] < *least;
    if (is_best) least = y.values[i];
    if (!is_best && chart.series.size() == 1) {
      chart.series.push_back({"other plans", SeriesStyle::kPoints, kGreyColour});
    }
    chart.points.push_back({is_best ? 0 : 1, x.values[i], y.values[i], Tip(plans, i, x, y)});
  }
  return ToHtml(chart);
}

Quantity OfSteps(const Json& plans, const std::string& label, const char* key) {
  Quantity quantity{label, {}};
  for (const Json& plan : plans) {
    quantity.values.push_back(plan.at("evaluation").at(key).get<double>());
  }
  return quantity;
}

// Money if all plans have it, else GPU-hours.
Quantity Costs(const Json& plans) {
  constexpr const char* kMoney = "cost_usd_per_billion_tokens";
  const bool has_prices = std::all_of(plans.begin(), plans.end(), [&](const Json& plan) {
    return plan.at("cost").contains(kMoney);
  });
  Quantity quantity{has_prices ? "cost (USD per 10⁹ tokens)" : "cost (GPU-hours per 10⁹ tokens)",
                    {}};
  for (const Json& plan : plans) {
    quantity.values.push_back(
        plan.at("cost").at(has_prices ? kMoney : "gpu_hours_per_billion_tokens").get<double>());
  }
  return quantity;
}

std::string PartsChart(const Json& plans) {
  BarsChart chart{.title = "The steps of the plans by parts",
                  .note = "Of the device that is busiest in each plan.",
                  .x = {.label = "time (ms)", .min = 0},
                  .row_label = "plan",
                  .rows = {},
                  .series = {},
                  .bars = {}};
  std::vector<const Json*> breakdowns;
  for (size_t i = 0; i < std::min(plans.size(), kMostParts); ++i) {
    chart.rows.push_back(fmt::format("{}", i + 1));
    breakdowns.push_back(&plans[i].at("evaluation").at("breakdown_ms"));
  }
  AddBreakdowns(breakdowns, chart);
  return ToHtml(chart);
}

std::string Sensitivity(const Json& answer) {
  if (!answer.contains("explanation")) return "";
  const Json& explanation = answer.at("explanation");
  if (!explanation.contains("sensitivity") || explanation.at("sensitivity").empty()) return "";
  const auto now = PlansOf(answer).at(0).at("evaluation").at("step_time_ms").get<double>();
  BarsChart chart{.title = "Sensitivity of the best plan",
                  .note = "How its step time changes if parts of the cluster are faster or slower.",
                  .x = {.label = "change of the step time (ms)"},
                  .row_label = "",
                  .rows = {},
                  .series = {},
                  .bars = {},
                  .is_grouped = true};
  std::vector<std::string> factors;
  for (const Json& one : explanation.at("sensitivity")) {
    const auto part = one.at("change").get<std::string>();
    const auto factor = fmt::format("{:g} times as fast", one.at("factor").get<double>());
    auto row = std::find(chart.rows.begin(), chart.rows.end(), part) - chart.rows.begin();
    if (row == static_cast<std::ptrdiff_t>(chart.rows.size())) chart.rows.push_back(part);
    auto series = std::find(factors.begin(), factors.end(), factor) - factors.begin();
    if (series == static_cast<std::ptrdiff_t>(factors.size())) {
      factors.push_back(factor);
      chart.series.push_back({factor, SeriesStyle::kBar, series % 2 == 0 ? 2 : 3});
    }
    const double change = one.at("old_step_time_ms").get<double>() - now;
    chart.bars.push_back({static_cast<int>(row), static_cast<int>(series), std::min(change, 0.0),
                          std::max(change, 0.0), "",
                          fmt::format("{} {}: {:+.3f} ms\n{}", part, factor, change,
                                      one.at("stays_best").get<bool>()
                                          ? "the plan stays the best"
                                          : fmt::format("another plan is {:.1f} % better",
                                                        100 * one.at("loss").get<double>()))});
  }
  return "<h2>Sensitivity</h2>\n" + ToHtml(chart);
}

// The algorithms that were compared.
std::string AlgorithmTable(const Json& answer) {
  if (!answer.contains("algorithms")) return "";
  std::vector<std::vector<std::string>> rows;
  for (const Json& one : answer.at("algorithms")) {
    rows.push_back({one.at("algorithm").get<std::string>(),
                    one.contains("remark") ? one.at("remark").get<std::string>() : "",
                    DecimalText(one.at("gap_percent"), 2), NumberText(one.at("evaluations")),
                    DecimalText(one.at("seconds"), 3)});
  }
  return HtmlCards({"algorithm", "remark", "gap to the best (%)", "evaluations", "time (s)"}, rows,
                   CardCells::kNumbersFromThird);
}

}  // namespace

const Json& PlansOf(const Json& answer) {
  return answer.contains("pareto") ? answer.at("pareto") : answer.at("plans");
}

std::string SearchSections(const Json& answer) {
  const Json& plans = PlansOf(answer);
  std::string html = Head(answer);
  if (plans.empty()) return html + "<p>No plan fits.</p>\n";
  html += "<h2>Plans</h2>\n" + PlanTable(plans) + TieWords(answer);
  const Quantity time = OfSteps(plans, "step time (ms)", "step_time_ms");
  const Quantity memory = OfSteps(plans, "peak memory (GiB)", "peak_memory_gib");
  html += FrontChart(plans, "Step time and memory", time, memory);
  html += FrontChart(plans, "Step time and cost", time, Costs(plans));
  html += PartsChart(plans);
  const std::string course = AlgorithmTable(answer) + CurveCharts(answer);
  if (!course.empty()) html += "<h2>Search</h2>\n" + course;
  return html + Sensitivity(answer);
}

}  // namespace stagecraft
