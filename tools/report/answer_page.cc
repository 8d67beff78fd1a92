#include "tools/report/answer_page.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/report/answer_charts.h"
#include "tools/report/explain_sections.h"
#include "tools/report/pipeline_charts.h"
#include "tools/report/search_sections.h"
#include "tools/report/whatif_sections.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

std::string PipelineOf(std::span<const ShownStep> steps, size_t plan) {
  if (plan >= steps.size()) return "";
  return "<h2>Pipeline</h2>\n" + PipelineCharts(*steps[plan].schedule, *steps[plan].timeline);
}

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string MeasuredWords(const Json& measured) {
  const auto error = measured.at("error_percent").get<double>();
  return fmt::format("{} ms: the prediction is {:.1f} % too {}, {} its 80 % interval",
                     DecimalText(measured.at("step_time_ms"), 1), std::abs(error),
                     error < 0 ? "low" : "high",
                     measured.at("within_interval").get<bool>() ? "within" : "outside of");
}

// What a training run takes, if the answer says so.
void AddRunFacts(const Json& cost, Facts& facts) {
  if (!cost.contains("run")) return;
  const Json& run = cost.at("run");
  const Json& days = run.at("days_interval");
  facts.emplace_back("training", fmt::format("--tokens {}: {} steps", NumberText(run.at("tokens")),
                                             DecimalText(run.at("steps"), 0)));
  facts.emplace_back("it takes",
                     fmt::format("{} days (80 %: {} to {} days), {} GPU-hours",
                                 DecimalText(run.at("days"), 1), DecimalText(days.at(0), 1),
                                 DecimalText(days.at(1), 1), DecimalText(run.at("gpu_hours"), 0)));
  if (!run.at("energy_mwh").is_null()) {
    facts.emplace_back("energy", DecimalText(run.at("energy_mwh"), 1) + " MWh");
  }
  if (run.contains("cost_usd")) {
    facts.emplace_back("cost of the GPUs", DecimalText(run.at("cost_usd"), 0) + " USD");
  }
  if (run.contains("energy_cost_usd")) {
    facts.emplace_back("electricity", DecimalText(run.at("energy_cost_usd"), 0) + " USD");
  }
}

// The facts of a step that there are.
std::string StepFacts(const Json& step) {
  Facts facts;
  const auto add = [&](const char* name, const char* key, int decimals, const std::string& unit) {
    if (step.contains(key)) facts.emplace_back(name, DecimalText(step.at(key), decimals) + unit);
  };
  std::string interval_words;
  if (step.contains("step_time_interval_ms")) {
    const Json& interval = step.at("step_time_interval_ms");
    interval_words = fmt::format(" (80 %: {} to {} ms)", DecimalText(interval.at(0), 1),
                                 DecimalText(interval.at(1), 1));
  }
  add("step time", "step_time_ms", 1, " ms" + interval_words);
  if (step.contains("measured")) facts.emplace_back("measured", MeasuredWords(step.at("measured")));
  add("throughput", "tokens_per_s", 0, " tokens/s");
  add("per GPU", "model_tflops_per_s_per_gpu", 1, " TFLOP/s");
  if (step.contains("mfu")) facts.emplace_back("MFU", PercentText(step.at("mfu")));
  facts.emplace_back("idle share of the pipeline", PercentText(step.at("bubble_fraction")));
  add("peak memory", "peak_memory_gib", 2, " GiB");
  if (step.contains("fits")) facts.emplace_back("fits", step.at("fits").get<bool>() ? "yes" : "no");
  if (step.contains("plan")) facts.emplace_back("plan", PlanWords(step.at("plan")));
  if (step.contains("cost")) AddRunFacts(step.at("cost"), facts);
  return FactTable(facts);
}

std::string StepSections(const Json& step, std::span<const ShownStep> steps, size_t plan) {
  return StepFacts(step) + "<h2>Plan</h2>\n" + PlanCharts(step) + PipelineOf(steps, plan) +
         "<h2>Time and memory</h2>\n" + BreakdownChart(step) + MemoryChart(step);
}

std::string Heading(const std::string& words, const Json& step) {
  return "<h1>" + EscapeXml(words + step.at("model").get<std::string>()) + "</h1>\n<p>on " +
         EscapeXml(step.at("cluster").get<std::string>()) + "</p>\n";
}

std::string SimulationBody(const Json& answer, std::span<const ShownStep> steps) {
  return Heading("A training step of ", answer) + StepSections(answer, steps, 0) +
         WarningList(answer);
}

std::string ExplanationBody(const Json& answer, std::span<const ShownStep> steps) {
  const Json& plans = answer.at("plans");
  if (plans.empty()) return "<p>There are no plans.</p>\n";
  std::string html = Heading("What waits in a training step of ", plans[0]);
  for (size_t plan = 0; plan < plans.size(); ++plan) {
    const Json& one = plans[plan];
    const auto label = one.at("label").get<std::string>();
    if (plans.size() > 1) {
      html += fmt::format("<h2>Plan {}{}{}</h2>\n", plan + 1, label.empty() ? "" : ": ",
                          EscapeXml(label));
    }
    html += StepSections(one, steps, plan) + ExplainSections(one) + WarningList(one);
  }
  return html;
}

std::string SearchBody(const Json& answer, std::span<const ShownStep> steps) {
  std::string html = Heading("Plans for ", answer);
  html += SearchSections(answer);
  const Json& plans = PlansOf(answer);
  if (!plans.empty()) {
    Json best = plans[0].at("evaluation");
    best["plan"] = plans[0].at("plan");
    best["cost"] = plans[0].at("cost");
    if (answer.contains("placement")) best["placement"] = answer.at("placement");
    html += "<h2>The first plan</h2>\n" + StepFacts(best) + PlanCharts(best) +
            PipelineOf(steps, 0) + MemoryChart(best);
  }
  return html + WarningList(answer);
}

std::string WhatIfBody(const Json& answer) {
  const Json& base = answer.at("base");
  const std::string head =
      base.contains("model") ? Heading("What if? ", base) : "<h1>What if?</h1>\n";
  const std::string plan =
      base.contains("plan") ? FactTable({{"plan as given", PlanWords(base.at("plan"))},
                                         {"command", base.at("command_line").get<std::string>()}})
                            : "";
  return head + plan + WhatIfSections(answer) +
         (base.contains("warnings") ? WarningList(base) : "");
}

std::string BodyOf(const Json& answer, std::span<const ShownStep> steps, const std::string& place) {
  const auto command = answer.at("command").get<std::string>();
  if (command == "simulate") return SimulationBody(answer, steps);
  if (command == "explain") return ExplanationBody(answer, steps);
  if (command == "search") return SearchBody(answer, steps);
  if (command == "whatif") return WhatIfBody(answer);
  throw InputError(
      fmt::format("{}: command: got \"{}\", want the JSON of simulate, explain, search, whatif, "
                  "train or validate",
                  place, command));
}

}  // namespace

std::string AnswerPage(const Json& answer, std::span<const ShownStep> steps,
                       const std::string& place) {
  try {
    const std::string body = BodyOf(answer, steps, place);
    return HtmlPage("stagecraft " + answer.at("command").get<std::string>(),
                    body + Provenance(answer), Charts());
  } catch (const Json::exception& error) {
    throw InputError(fmt::format(
        "{}: is not what simulate, explain, search, whatif, train or validate print as JSON ({})",
        place, error.what()));
  }
}

}  // namespace stagecraft
