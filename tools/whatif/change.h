// Change: what one --change says, and what it makes of the flags of a point.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/study/study_point.h"
#include "tools/verb/flags.h"

namespace stagecraft {

enum class EditKind {
  kFlag,   // the value of a flag
  kPrice,  // of one GPU type, of all, or all in proportion
  kScale,  // bandwidths or capacities of the whole cluster (--scale)
  kSlow,   // a part of the cluster works at a share of its speed (--slow)
  kGpu,    // the same nodes with other GPUs
  kNodes,  // more or fewer nodes
};

struct Edit {
  EditKind kind = EditKind::kFlag;
  std::string name;                   // of the flag without dashes; "network"; "node3"
  std::string value;                  // as it was typed
  std::optional<double> factor = {};  // 2 for "2x"
};

struct Change {
  std::string text;         // as it was typed
  std::vector<Edit> edits;  // at least one
};

// Reads "network=0.5x", "compiled" or, with semicolons between them, several that belong together:
// "tp=4;pp=8". `flags` are those that a point may have. Throws InputError that begins with the
// change for one that is malformed or names nothing.
Change ReadChange(const std::string& text, const std::vector<Flag>& flags);

// Whether both change the same thing, so that they cannot be made together.
bool Collide(const Change& a, const Change& b);

// Returns the point with the change. Throws InputError that begins with the change if it does not
// apply to the point: a multiple of a flag that has no number, other GPUs in a cluster file.
StudyPoint Apply(const Change& change, StudyPoint point);

}  // namespace stagecraft
