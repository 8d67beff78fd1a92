// What every JSON result begins with, and how input files are named in it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stagecraft {

// {"schema", "tool_version", "command", "inputs": [{"path", "sha256"}]} in
// order of `files`. Throws InputError for a file that cannot be read.
nlohmann::ordered_json ReportHeader(const std::string& command, int schema,
                                    const std::vector<std::string>& files);

// Lower-case hexadecimal SHA-256.
std::string Sha256(const std::string& contents);

}  // namespace stagecraft
