#include "runtime/cuda/part_sizes.h"

#include <fmt/format.h>

#include <numeric>

#include "costmodel/check.h"

namespace stagecraft {

std::vector<PartGroups> ShareGroups(const BoardGroups& board, std::span<const int> parts,
                                    const std::string& place) {
  std::vector<PartGroups> shared;
  int next = 0;
  bool is_rest_taken = false;
  for (const int part : parts) {
    PartGroups own{.first = next, .count = part / board.group_size};
    const int odd = part % board.group_size;
    own.has_rest = odd != 0 && odd == board.rest && !is_rest_taken;
    if (part <= 0 || own.count == 0 || (odd != 0 && !own.has_rest)) {
      const std::string rest =
          board.rest == 0 ? ""
                          : fmt::format(", one of which may have the {} left over too", board.rest);
      throw InputError(fmt::format("{}: got a part of {} multiprocessors, want multiples of {}{}",
                                   place, part, board.group_size, rest));
    }
    is_rest_taken = is_rest_taken || own.has_rest;
    next += own.count;
    shared.push_back(own);
  }
  if (next > board.groups) {
    throw InputError(fmt::format(
        "{}: got parts of {} multiprocessors together, want at most the {} of the board, of which "
        "{} in groups of {}",
        place, std::accumulate(parts.begin(), parts.end(), 0), board.multiprocessors(),
        board.groups * board.group_size, board.group_size));
  }
  return shared;
}

int EqualPart(const BoardGroups& board, int parts, const std::string& place) {
  if (parts < 1 || parts > board.groups) {
    throw InputError(
        fmt::format("{}: got {} parts, want 1 to {}, as the board has groups of {} "
                    "multiprocessors",
                    place, parts, board.groups, board.group_size));
  }
  return board.groups / parts * board.group_size;
}

}  // namespace stagecraft
