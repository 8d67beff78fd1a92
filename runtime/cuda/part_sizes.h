// How the multiprocessors of a GPU are divided among its parts.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace stagecraft {

// The groups of equal size into which the driver splits a GPU, and the rest, which is larger than a
// group if some of a group's multiprocessors are disabled.
struct GpuGroups {
  int group_size = 8;  // multiprocessors; 8 on Hopper and later
  int groups = 0;
  int rest = 0;

  int multiprocessors() const { return groups * group_size + rest; }
};

struct PartGroups {
  int first = 0;
  int count = 0;
  bool has_rest = false;
};

// Returns the groups of parts with these numbers of multiprocessors, in order. Each number must be
// a multiple of a group's; one of the parts may include the rest. Throws an InputError, a sentence
// that begins with `place`, for other sizes and if the parts do not fit together.
std::vector<PartGroups> ShareGroups(const GpuGroups& gpu, std::span<const int> parts,
                                    const std::string& place);

// Returns the numbers of multiprocessors of parts in proportion to these shares, as near as groups
// allow: each part has at least one group, all groups are used, and the rest goes to the last of
// the largest. Throws InputError if there are more parts than groups, or if a share is not above
// zero.
std::vector<int> PartsByShares(const GpuGroups& gpu, std::span<const int> shares,
                               const std::string& place);

// Returns the most multiprocessors that each of `parts` equal parts can have. Throws InputError if
// there are more parts than groups.
int EqualPart(const GpuGroups& gpu, int parts, const std::string& place);

}  // namespace stagecraft
