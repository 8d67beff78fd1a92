#include "tools/report/op_estimates_report.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "sim/analysis/op_estimates.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

std::vector<OpKindTime> KindsOf(const SimulatedStep& step) {
  return TimesByOpKind(step.schedule, step.costs, step.evaluation.profile.critical_rank);
}

// "71 % learned, 29 % extrapolated"; shares below half a percent are left out.
std::string BasisText(const OpKindTime& kind) {
  std::string text;
  for (int i = 0; i < kBasisCount; ++i) {
    if (kind.basis[i] < 0.005) continue;
    text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", 100 * kind.basis[i],
                        Name(static_cast<Basis>(i)));
  }
  return text;
}

}  // namespace

nlohmann::ordered_json OpEstimatesToJson(const SimulatedStep& step) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const OpKindTime& kind : KindsOf(step)) {
    nlohmann::ordered_json basis;
    for (int i = 0; i < kBasisCount; ++i) basis[Name(static_cast<Basis>(i))] = kind.basis[i];
    json.push_back({{"op", Name(kind.kind)},
                    {"ops", kind.ops},
                    {"time_ms", kind.time.ms()},
                    {"basis", std::move(basis)},
                    {"spread", kind.spread}});
  }
  return json;
}

void PrintOpEstimates(const SimulatedStep& step, std::ostream& out) {
  out << "\nops of the critical rank, and what their times rest on\n";
  TextTable table({"  op", "ops", "ms", "80 % within a factor of", "basis"},
                  std::vector<bool>{true, false, false, false, true});
  for (const OpKindTime& kind : KindsOf(step)) {
    table.Add({fmt::format("  {}", Name(kind.kind)), fmt::format("{}", kind.ops),
               fmt::format("{:.1f}", kind.time.ms()),
               fmt::format("{:.2f}", std::exp(kSigmas80 * kind.spread)), BasisText(kind)});
  }
  table.Print(out);
}

}  // namespace stagecraft
