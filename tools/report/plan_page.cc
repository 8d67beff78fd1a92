#include "tools/report/plan_page.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/cluster/cluster_spec.h"
#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/report/answer_charts.h"
#include "tools/report/placement.h"
#include "tools/report/plan_report.h"

namespace stagecraft {

std::string PlanPage(const Plan& plan, const Workload& workload, const Cluster& cluster,
                     const std::string& origin) {
  nlohmann::ordered_json answer;
  answer["plan"] = PlanToJson(plan, workload);
  answer["placement"] = PlacementToJson(plan, cluster);
  std::string html = fmt::format("<h1>A plan for {}</h1>\n<p>on {}</p>\n", EscapeXml(workload.name),
                                 EscapeXml(DescribeCluster(cluster)));
  std::vector<std::pair<std::string, std::string>> facts = {
      {"plan", PlanWords(answer["plan"])},
      {"stages", fmt::format("{}", plan.stages.size())},
      {"GPUs", fmt::format("{} of {}", plan.device_count(), cluster.device_count())},
      {"global batch", fmt::format("{}", plan.global_batch)}};
  const bool has_tokens = plan.sequence > 1;  // which an image has not
  if (has_tokens) facts.emplace_back("tokens per sample", fmt::format("{}", plan.sequence));
  facts.emplace_back("from", origin);
  html += FactTable(facts);
  return HtmlPage("stagecraft plan", html + PlanCharts(answer), Charts());
}

}  // namespace stagecraft
