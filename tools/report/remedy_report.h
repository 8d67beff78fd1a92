// Reports what would make a plan fit, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "search/remedy.h"

namespace stagecraft {

// Returns "--zero 2 (61.20 of 76.00 GiB), or --recompute full (50.10 of 76.00 GiB)"; empty if there
// is no remedy.
std::string RemediesText(const std::vector<Remedy>& remedies);

// Returns [{"flags", "peak_gib", "usable_gib"}].
nlohmann::ordered_json RemediesToJson(const std::vector<Remedy>& remedies);

}  // namespace stagecraft
