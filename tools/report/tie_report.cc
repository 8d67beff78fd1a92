#include "tools/report/tie_report.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

int CountTied(const Ties& ties) {
  return static_cast<int>(std::count_if(ties.plans.begin(), ties.plans.end(),
                                        [](const ComparedPlan& plan) { return plan.is_tied; }));
}

std::string Counted(int count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// What the preferred plan has over the first one, the weightiest reason first.
std::vector<std::string> ReasonsOf(const Ties& ties) {
  const ComparedPlan& first = ties.plans[0];
  const ComparedPlan& preferred = ties.plans[ties.preferred];
  std::vector<std::string> reasons;
  if (preferred.nodes < first.nodes) {
    reasons.push_back(fmt::format("its layers are exchanged within {} instead of {}",
                                  Counted(preferred.nodes, "node"), first.nodes));
  }
  if (preferred.features.size() < first.features.size()) {
    std::vector<std::string> spared = first.features;
    std::erase_if(spared, [&](const std::string& name) {
      return std::find(preferred.features.begin(), preferred.features.end(), name) !=
             preferred.features.end();
    });
    reasons.push_back(fmt::format("it is simpler: no {}", fmt::join(spared, ", no ")));
  }
  if (preferred.room > first.room) {
    reasons.push_back(fmt::format("its fullest GPU has {:.1f} GiB left instead of {:.1f}",
                                  preferred.room.gib(), first.room.gib()));
  }
  return reasons;
}

void PrintTable(const Ties& ties, std::ostream& out) {
  TextTable table({"rank", "worse by", "uncertain by", "nodes", "GiB left", "features"},
                  {false, false, false, false, false, true});
  for (size_t i = 0; i < ties.plans.size(); ++i) {
    const ComparedPlan& plan = ties.plans[i];
    if (!plan.is_tied) continue;
    table.Add({fmt::format("{}", i + 1), i == 0 ? "" : fmt::format("{:.2f} %", 100 * plan.loss),
               i == 0 ? "" : fmt::format("{:.2f} %", 100 * plan.uncertainty),
               fmt::format("{}", plan.nodes), fmt::format("{:.1f}", plan.room.gib()),
               plan.features.empty() ? "none" : fmt::format("{}", fmt::join(plan.features, ", "))});
  }
  table.Print(out);
}

}  // namespace

nlohmann::ordered_json TiesToJson(const Ties& ties) {
  Json plans = Json::array();
  for (size_t i = 0; i < ties.plans.size(); ++i) {
    const ComparedPlan& plan = ties.plans[i];
    plans.push_back({{"rank", i + 1},
                     {"loss", plan.loss},
                     {"uncertainty", plan.uncertainty},
                     {"tied", plan.is_tied},
                     {"nodes", plan.nodes},
                     {"gib_left", plan.room.gib()},
                     {"features", plan.features}});
  }
  return {{"tied", CountTied(ties)},
          {"preferred_rank", ties.preferred + 1},
          {"reasons", ReasonsOf(ties)},
          {"plans", std::move(plans)}};
}

void PrintTies(const Ties& ties, std::ostream& out) {
  if (ties.plans.size() < 2) return;
  const int tied = CountTied(ties);
  if (tied == 1) {
    fmt::print(out,
               "no tie: the next plan is {:.2f} % worse, and the difference is uncertain by {:.2f} "
               "% (80 % interval)\n",
               100 * ties.plans[1].loss, 100 * ties.plans[1].uncertainty);
    return;
  }
  fmt::print(out,
             "\na tie: {} of these plans differ by less than their difference is uncertain (80 % "
             "interval)\n",
             tied);
  PrintTable(ties, out);
  if (ties.preferred == 0) {
    fmt::print(out, "none of them crosses fewer nodes, is simpler or has more room than rank 1\n");
    return;
  }
  fmt::print(out, "prefer rank {}: {}\n", ties.preferred + 1, fmt::join(ReasonsOf(ties), "; "));
}

}  // namespace stagecraft
