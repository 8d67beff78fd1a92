// Reports what changes do to a step, as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/whatif/what_if.h"

namespace stagecraft {

// Returns {"base", "changes"}, as docs/json.md lists them. `verb` is that of the command lines:
// "simulate" or "search".
nlohmann::ordered_json WhatIfToJson(const WhatIfTable& table, const std::string& verb);

// Prints the plan, a table with a line for each row, and a sentence for each change.
void PrintWhatIf(const WhatIfTable& table, std::ostream& out);

}  // namespace stagecraft
