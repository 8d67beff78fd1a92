// How the multiprocessors of a board are shared out among parts of it.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace stagecraft {

// What the driver splits a board into: groups of equal size, and a rest, which is larger than one
// where some of a group's multiprocessors are fused off.
struct BoardGroups {
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

// Groups for parts of so many multiprocessors each, in order: multiples of a group's, and one
// of them may have the rest too. Throws InputError, a sentence that begins with `place`, for
// other sizes and where they do not fit together.
std::vector<PartGroups> ShareGroups(const BoardGroups& board, std::span<const int> parts,
                                    const std::string& place);

// Multiprocessors of parts that are to each other as these shares, as near as groups allow: each
// has one at least, all are shared out, and the rest goes to the last of the largest. Throws
// InputError where there are more parts than groups, or a share is not above zero.
std::vector<int> PartsByShares(const BoardGroups& board, std::span<const int> shares,
                               const std::string& place);

// The most that each of so many equal parts can have. Throws InputError where there are more
// parts than groups.
int EqualPart(const BoardGroups& board, int parts, const std::string& place);

}  // namespace stagecraft
