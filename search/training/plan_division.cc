#include "search/training/plan_division.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "costmodel/check.h"

namespace stagecraft {

Division DivisionOf(const Plan& plan) {
  Division division;
  for (const Stage& stage : plan.stages) {
    int layers = 0;
    for (const LayerRange& chunk : stage.chunks) layers += chunk.count;
    division.push_back(layers);
  }
  return division;
}

Plan WithDivision(Plan plan, const Division& division) {
  CHECK(plan.stages.size() == division.size());
  int first = 0;
  for (size_t stage = 0; stage < division.size(); ++stage) {
    plan.stages[stage].chunks = {{first, division[stage]}};
    first += division[stage];
  }
  return plan;
}

void CheckDivisible(const Plan& plan) {
  const auto refuse = [](std::string_view got, std::string_view want) {
    throw InputError(fmt::format("--balance: got {}, want {}", got, want));
  };
  if (plan.stages.size() < 2) refuse("a pipeline of one stage", "two or more (--pp)");
  if (plan.chunk_count() > 1) {
    refuse("stages of several chunks", "a pipeline schedule with one chunk on each stage");
  }
  if (plan.SplitsVocabulary()) refuse("a vocabulary split over stages", "a whole one");
  for (const Stage& stage : plan.stages) {
    if (!stage.recomputed.empty()) {
      refuse("ranges of recomputed layers", "--recompute without a choice of layers");
    }
    if (stage.chunks[0].count < 1) refuse("a stage without layers", "one or more on each stage");
  }
}

std::vector<int> DevicesOf(const Plan& plan) {
  std::vector<int> devices;
  for (const Stage& stage : plan.stages) {
    for (const std::vector<int>& replica : stage.replicas) {
      devices.insert(devices.end(), replica.begin(), replica.end());
    }
  }
  std::sort(devices.begin(), devices.end());
  return devices;
}

}  // namespace stagecraft
