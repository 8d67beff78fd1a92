// The databases of MPI ranks: rank 0 writes the one that the user names, and every other rank one
// of its own beside it, "runs.db.rank3", whose rows rank 0 takes over in the end. No rank needs to
// talk to another, so ranks that are killed leave what they have done.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/sweep/run_store.h"

namespace stagecraft {

std::string PartOfRank(const std::string& path, int64_t rank);

struct PartsTaken {
  int taken = 0;  // parts whose rows are now in the store; they are deleted
  int busy = 0;   // parts that a process is writing
};

// Takes over the rows of all parts beside `path` that no process is writing. Throws InputError for
// a part of another grid.
PartsTaken TakeParts(const GridRecord& grid, const std::string& path, RunStore& store);

}  // namespace stagecraft
