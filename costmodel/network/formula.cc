#include "costmodel/network/formula.h"

#include <algorithm>
#include <cmath>

#include "costmodel/collectives.h"
#include "costmodel/embedded_nccl_tuning.h"

namespace stagecraft {
namespace {

// The share of one of the n-1 steps of a ring's gather or scatter that is added to the formula:
// chosen among 0, 0.05, ... 0.2 with half of the groups left out (docs/cost-model.md). A byte costs
// a ring of two 8 % more than a ring of eight.
constexpr double kLastStep = 0.1;

}  // namespace

Formula::Formula(const Op& op, const Device& device, std::optional<Algorithm> forced)
    : op_(op), device_(device), forced_(forced) {
  least_seconds_ = ChoiceAt(Bytes()).time.seconds();
}

CollectiveChoice Formula::ChoiceAt(Bytes bytes) const {
  Op op = op_;
  op.bytes = bytes;
  return ChooseCollective(op, device_, EmbeddedNcclTuning(), forced_);
}

double Formula::SecondsOf(const CollectiveChoice& choice) const {
  const double seconds = choice.time.seconds();
  const bool is_inside = op_.fabric.nodes == 1 && choice.method.algorithm == Algorithm::kRing;
  const bool is_whole = CollectiveOf(op_.kind).passes == Passes::kWholeOnce;
  if (!is_inside || is_whole) return seconds;
  return seconds + kLastStep / (op_.fabric.ranks - 1) * std::max(0.0, seconds - least_seconds_);
}

double Formula::RegimeAt(double seconds) const { return 1 + std::log2(seconds / least_seconds_); }

}  // namespace stagecraft
