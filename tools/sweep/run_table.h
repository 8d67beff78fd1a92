// The rows of a sweep's database as CSV, and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/sweep/run_store.h"

namespace stagecraft {

// The flags of all grids of a database, each once, in the order of the first grid.
std::vector<std::string> FlagColumns(const RunStore& store);

// Returns all rows, by grid and point: a heading, then a line for each with its flags, results and
// hashes; numbers have as many digits as they need. A column `grid` comes first if there are
// several. Equal sweeps have equal texts, whatever threads, shards or ranks they were made by.
std::string RunsToCsv(const RunStore& store);

// Returns the rows of one grid as a list, by point.
nlohmann::ordered_json RowsToJson(const RunStore& store, int grid);

// Returns a row with the keys of the CSV's columns; flags are an object, and what is not known is
// null.
nlohmann::ordered_json RowToJson(const RunRow& row);

}  // namespace stagecraft
