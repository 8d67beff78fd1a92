// SavedValidation: a validation as the JSON that `validate` printed says it, as far as its page
// needs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/validation/validation_report.h"

namespace stagecraft {

// Reads the rows of the JSON that `validate` prints, and why others are not scored. Throws an
// InputError that begins with `place` for other JSON, and for that of --fit-constants, which has no
// rows.
Validation ValidationFromJson(const nlohmann::ordered_json& answer, const std::string& place);

// Returns the page of that JSON. Throws InputErrors as ValidationFromJson() does.
std::string ValidationPage(const nlohmann::ordered_json& answer, const std::string& place);

}  // namespace stagecraft
