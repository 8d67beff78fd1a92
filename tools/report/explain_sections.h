// What the page of `explain` has besides the step itself (answer_page.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stagecraft {

// Returns charts of one of "plans" in the JSON of `explain`: what the devices of each stage do with
// their time, the critical path, what waits for what, and what the mechanisms of the prediction add
// to the step. Throws nlohmann::json exceptions for other JSON.
std::string ExplainSections(const nlohmann::ordered_json& plan);

}  // namespace stagecraft
