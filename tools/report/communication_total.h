// CommunicationTotal: how long the critical rank of a step communicates, hidden or not.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "costmodel/units.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

struct CommunicationTotal {
  Duration exposed;  // all parts of the step's breakdown that are communication
  Duration hidden;   // behind computation (hidden_communication.h)

  Duration All() const { return exposed + hidden; }
};

// Precondition: the step flushes, so that its breakdown is of all of it.
CommunicationTotal FindCommunicationTotal(const SimulatedStep& step);

// Returns `all`, `exposed` and `hidden` in milliseconds.
nlohmann::ordered_json CommunicationTotalToJson(const CommunicationTotal& total);
// Prints a line below the parts of the step; nothing if the rank does not communicate.
void PrintCommunicationTotal(const CommunicationTotal& total, std::ostream& out);

}  // namespace stagecraft
