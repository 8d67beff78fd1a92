// Scripts that complete command lines in a shell, made from what --help-json says of every verb.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stagecraft {

// `verbs` is a list of {"name", "summary", "flags"}, whose flags are those of --help-json.
std::string BashCompletion(const nlohmann::ordered_json& verbs);
std::string ZshCompletion(const nlohmann::ordered_json& verbs);

}  // namespace stagecraft
