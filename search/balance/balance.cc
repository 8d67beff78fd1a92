#include "search/balance/balance.h"

#include <fmt/core.h>

#include <utility>

#include "search/balance/diffusion.h"
#include "search/balance/layer_partition.h"

namespace stagecraft {
namespace {

constexpr Balancer kBalancers[] = {Balancer::kNone, Balancer::kPartition, Balancer::kDiffusion};

// A gain below this share of the load is rounding.
constexpr double kLeastGain = 1e-9;
constexpr double kPercent = 100;

// Returns what the balancer proposes, if anything, and notes what that took.
std::optional<Division> Propose(const BalanceRequest& request, BalanceDecision& decision) {
  if (request.balancer == Balancer::kPartition) {
    return PartitionLayers(request.problem, request.present);
  }
  DiffusionResult result = Diffuse(request.problem, request.present);
  decision.rounds = result.rounds;
  decision.messages = result.messages;
  return std::move(result.division);
}

}  // namespace

std::string_view NameOf(Balancer balancer) {
  switch (balancer) {
    case Balancer::kNone:
      return "none";
    case Balancer::kPartition:
      return "partition";
    case Balancer::kDiffusion:
      break;
  }
  return "diffusion";
}

std::optional<Balancer> BalancerNamed(std::string_view name) {
  for (const Balancer balancer : kBalancers) {
    if (NameOf(balancer) == name) return balancer;
  }
  return std::nullopt;
}

BalanceDecision DecideBalance(const BalanceRequest& request) {
  const BalanceProblem& problem = request.problem;
  CheckBalanceProblem(problem);
  CheckDivision(problem, request.present);
  BalanceDecision decision;
  decision.present_load = decision.new_load = SlowestLoad(problem, request.present);
  if (request.balancer == Balancer::kNone) {
    decision.reason = "no balancer is chosen";
    return decision;
  }
  std::optional<Division> proposed = Propose(request, decision);
  if (!proposed || !FitsMemory(problem, *proposed)) {
    decision.reason = fmt::format("{} finds no division that fits the memory of the stages",
                                  NameOf(request.balancer));
    return decision;
  }
  const double load = SlowestLoad(problem, *proposed);
  if (!FitsMemory(problem, request.present)) {
    decision.reason = "the present division does not fit the memory of the stages";
  } else if (load < decision.present_load * (1 - kLeastGain)) {
    decision.reason = fmt::format("the slowest stage takes {:.1f} % less",
                                  kPercent * (1 - load / decision.present_load));
  } else {
    decision.reason = fmt::format("{} finds no division whose slowest stage takes less",
                                  NameOf(request.balancer));
    return decision;
  }
  decision.new_load = load;
  decision.division = std::move(proposed);
  return decision;
}

bool WorthIt(Duration gain, int64_t steps, Duration cost) { return steps * gain > cost; }

}  // namespace stagecraft
