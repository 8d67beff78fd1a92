// RunsPage(): the points of a sweep's database as an HTML page.
#pragma once

#include <string>

#include "tools/sweep/run_store.h"

namespace stagecraft {

// Returns what SweepPage() makes of all rows of all grids of the database, which was read from
// `path`. Throws InputError for a row that sweep cannot have written.
std::string RunsPage(const RunStore& store, const std::string& path);

}  // namespace stagecraft
