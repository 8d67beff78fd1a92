// What the results of a point depend on, as hashes.
#pragma once

#include <map>
#include <string>

#include "tools/study/study_point.h"
#include "tools/sweep/grid.h"
#include "tools/sweep/run_store.h"

namespace stagecraft {

// The SHA-256 of everything that is built into the program and that results depend on: cost
// models, GPUs, nodes, networks, stacks.
std::string BuiltInDataHash();

class SweepInputs {
 public:
  // Reads the files that the grid's values name, by themselves or in a list separated by commas; of
  // a folder its config.json. Throws InputError for one that cannot be read.
  explicit SweepInputs(const Grid& grid);

  const GridRecord& record() const { return record_; }

  // The SHA-256 of the verb, the flags, the files that they name, the version of the program and
  // its data.
  std::string HashOf(const StudyPoint& point) const;

 private:
  GridRecord record_;
  std::string head_;                          // of every point's text
  std::map<std::string, std::string> files_;  // lines on the files that a value names, by value
};

}  // namespace stagecraft
