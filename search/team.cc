#include "search/team.h"

#include <fmt/core.h>

#include <algorithm>

#include "costmodel/hash.h"
#include "search/packing.h"

namespace stagecraft {

std::vector<std::string> ExchangeAbout(Team& team, uint64_t subject, const std::string& own) {
  Packer packer;
  packer(subject);
  std::vector<std::string> all = team.Exchange(packer.Take() + own);
  uint64_t of_first = 0;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    uint64_t theirs = 0;
    Unpacker unpacker(all[rank]);
    unpacker(theirs);
    if (rank == 0) of_first = theirs;
    if (theirs != of_first) throw UnlikeRanks(static_cast<int>(rank));
    all[rank].erase(0, sizeof theirs);
  }
  return all;
}

bool AnySays(Team& team, bool own) {
  const std::vector<std::string> all =
      ExchangeAbout(team, Hash().Add("any").value(), own ? "1" : "0");
  return std::any_of(all.begin(), all.end(), [](const std::string& says) { return says == "1"; });
}

std::runtime_error UnlikeRanks(int rank) {
  return std::runtime_error(
      fmt::format("rank {} does not search what rank 0 does: want the same program, the same files "
                  "and one type of processor for all ranks",
                  rank));
}

}  // namespace stagecraft
