// Parses TOML.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace stagecraft {

// Returns a TOML document as a JSON object; dates become text. Throws an InputError that begins
// with `name` for syntax errors, with their line and column.
nlohmann::json ParseToml(const std::string& text, const std::string& name);

}  // namespace stagecraft
