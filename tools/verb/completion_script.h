// Scripts that complete command lines in a shell, made from what --help-json says about every verb.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stagecraft {

// Both return the whole script. `verbs` is a list of {"name", "summary", "flags"}, where "flags"
// are those of --help-json.
std::string BashCompletion(const nlohmann::ordered_json& verbs);
std::string ZshCompletion(const nlohmann::ordered_json& verbs);

}  // namespace stagecraft
