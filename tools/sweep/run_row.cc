#include "tools/sweep/run_row.h"

namespace stagecraft {

const char* Name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFits:
      return "fits";
    case Outcome::kDoesNotFit:
      return "does not fit";
    case Outcome::kRefused:
      return "refused";
  }
  return "";
}

std::optional<Outcome> FindOutcome(const std::string& name) {
  for (const Outcome outcome : {Outcome::kFits, Outcome::kDoesNotFit, Outcome::kRefused}) {
    if (name == Name(outcome)) return outcome;
  }
  return std::nullopt;
}

}  // namespace stagecraft
