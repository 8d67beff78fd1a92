// The charts and the tables of a page about `whatif`: the step as asked for beside the step after
// each change.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stagecraft {

// Takes what `whatif --json` prints. Changes without a step, which are refused or for which no plan
// fits, are in the tables alone. Throws nlohmann::json exceptions for JSON that no whatif prints.
std::string WhatIfSections(const nlohmann::ordered_json& answer);

}  // namespace stagecraft
