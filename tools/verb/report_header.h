// The fields with which every JSON result begins, and which name its input files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stagecraft {

// Returns {"schema", "tool_version", "command", "inputs": [{"path", "sha256"}]}, with inputs in the
// order of `files`. Throws InputError for a file that cannot be read.
nlohmann::ordered_json ReportHeader(const std::string& command, int schema,
                                    const std::vector<std::string>& files);

// Returns the SHA-256 of `contents` in lower-case hexadecimal.
std::string Sha256(const std::string& contents);

}  // namespace stagecraft
