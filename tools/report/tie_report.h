// Reports which plans that a search found cannot be told apart, and which of them to prefer, as
// text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "search/tie.h"

namespace stagecraft {

// Returns the keys of `tie` in docs/json.md, `search`.
nlohmann::ordered_json TiesToJson(const Ties& ties);

// Prints the same as text; nothing if there is only one plan.
void PrintTies(const Ties& ties, std::ostream& out);

}  // namespace stagecraft
