#include "tools/report/communication_total.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "costmodel/check.h"
#include "sim/analysis/hidden_communication.h"

namespace stagecraft {

CommunicationTotal FindCommunicationTotal(const SimulatedStep& step) {
  CHECK(!step.evaluation.steady);
  const StepProfile& profile = step.evaluation.profile;
  const Breakdown& parts = profile.breakdown;
  return {parts.tensor + parts.pipeline + parts.data + parts.context + parts.expert,
          HiddenCommunication(step.schedule, step.timeline, step.costs, profile.critical_rank,
                              step.repetition)};
}

nlohmann::ordered_json CommunicationTotalToJson(const CommunicationTotal& total) {
  return {
      {"all", total.All().ms()}, {"exposed", total.exposed.ms()}, {"hidden", total.hidden.ms()}};
}

void PrintCommunicationTotal(const CommunicationTotal& total, std::ostream& out) {
  if (total.All() == Duration()) return;
  fmt::print(out,
             "  communication in all: {:.1f} ms, {:.1f} ms of it exposed (tp, pp, dp, cp, ep) and "
             "{:.1f} ms hidden behind computation\n",
             total.All().ms(), total.exposed.ms(), total.hidden.ms());
}

}  // namespace stagecraft
