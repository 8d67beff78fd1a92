// MergeRuns(): one database from those of several shards.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

struct MergeRules {
  bool allows_other_grids = false;
  bool allows_other_versions = false;  // of the program, or of its cost models and catalogues
};

// Writes a new database with all rows of `sources`, whole or not at all. Its content does not
// depend on the order of the sources, but for the order of several grids. A source that a sweep is
// writing has the rows that were kept so far. Throws InputError if the new file exists, a source is
// given twice or no database of a sweep, grids or versions differ against the rules, or two sources
// say different things of one point.
void MergeRuns(const std::vector<std::string>& sources, const std::string& output,
               const MergeRules& rules);

}  // namespace stagecraft
