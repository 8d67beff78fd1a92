#include "sim/pipeline/pass_costs.h"

#include <algorithm>
#include <cstdlib>

namespace stagecraft {

Duration PipelineCosts::Transfer(int from, int to) const {
  if (from == to) return Duration();
  const bool wraps = std::abs(from - to) != 1;
  return transfers[wraps ? transfers.size() - 1 : static_cast<size_t>(std::min(from, to))];
}

Duration PipelineCosts::Beside(Duration sum) const {
  return Duration::RoundedNanoseconds(beside_share * static_cast<double>(sum.ns()));
}

PipelineCosts UniformCosts(int stages, int chunks, const PassTimes& times, Duration transfer) {
  const std::vector<PassTimes> of_stage(static_cast<size_t>(chunks), times);
  return {std::vector<std::vector<PassTimes>>(static_cast<size_t>(stages), of_stage),
          std::vector<Duration>(static_cast<size_t>(stages), transfer)};
}

}  // namespace stagecraft
