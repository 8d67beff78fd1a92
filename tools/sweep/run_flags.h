// The flags of points, as a database keeps them: in JSON.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/sweep/run_row.h"

namespace stagecraft {

// Returns the values of a row's flags. Throws InputError for a text that sweep does not write.
std::map<std::string, std::string> FlagsOfRow(const RunRow& row);

// The values of a flag in a grid.
struct FlagValues {
  std::string flag;
  std::vector<std::string> values;  // in the order of the grid; "" where a point lacks the flag
};

// Returns the flags of GridRecord::definition with their values, in the order of the grid; those of
// explicit points by name. Throws InputError for a text that sweep does not write.
std::vector<FlagValues> ValuesOfDefinition(const std::string& definition);
std::vector<std::string> FlagsOfDefinition(const std::string& definition);
std::string VerbOfDefinition(const std::string& definition);  // "simulate"

}  // namespace stagecraft
