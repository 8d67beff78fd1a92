// What kind of file a text is, told by its keys: for the sentence about a file that was given in
// place of another.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

namespace stagecraft {

// Returns "a plan", "a Chrome trace", "what search prints as JSON" or the like for the content of a
// JSON or YAML file; empty if its keys at the top tell nothing.
std::string KindOfJson(const nlohmann::json& root);

// The same for the keys at the top of a file.
std::string KindOfKeys(const std::set<std::string>& keys);

// Returns the names of the fields at the top of a text in protobuf's text format; the text may be
// malformed.
std::set<std::string> TextFormatKeys(const std::string& text);

// Returns what a user calls a message: "a cost model" for "CostModelProto".
std::string NounOfMessage(const std::string& message_name);

}  // namespace stagecraft
