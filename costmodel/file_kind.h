// Tells by its keys what kind of file a text is, so that an error can say what was given in place
// of the file that is wanted.
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

// Returns what a user calls a message: "a cost model" for "CostModelProto". If KindOfKeys() knows
// files of that message, these are its words, too.
std::string NounOfMessage(const std::string& message_name);

}  // namespace stagecraft
