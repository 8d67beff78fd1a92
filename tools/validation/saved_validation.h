// Reads the JSON that `validate` printed, as far as its page needs it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/validation/validation_report.h"

namespace stagecraft {

// Reads the rows of the JSON that `validate` prints, and why others are not scored. Throws an
// InputError that begins with `place` for other JSON, for that of --fit-constants, which has no
// rows, and for numbers that no measurement or prediction can have.
Validation ValidationFromJson(const nlohmann::ordered_json& answer, const std::string& place);

// Returns the page of that JSON. Throws InputErrors as ValidationFromJson() does.
std::string ValidationPage(const nlohmann::ordered_json& answer, const std::string& place);

}  // namespace stagecraft
