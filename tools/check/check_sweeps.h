// What sweep writes: databases, and tables of their rows.
#pragma once

#include <optional>
#include <string>

#include "tools/check/check_file.h"

namespace stagecraft {

// Recognises a SQLite database and a sweep's table by their first bytes; nullopt for other files.
// Throws InputError for a database that sweep did not write or that is damaged, and for a table
// with rows that are too short or too long.
std::optional<FileSummary> CheckSweepFile(const std::string& text, const std::string& path);

}  // namespace stagecraft
