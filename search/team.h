// Team: the processes that run one search together.
//
// Every process, a rank of the team, runs the whole search and comes to the same decisions. The
// ranks divide the evaluations among themselves, which take most of the time: of the plans that are
// evaluated side by side each rank evaluates some, and then hands its results to the others
// (divided_work.h). So a team returns what a single process returns, to the bit, with the same
// counts and the same bounds.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace stagecraft {

class Team {
 public:
  virtual ~Team() = default;

  virtual int rank() const = 0;  // 0 to size() - 1
  virtual int size() const = 0;
  // Hands `own` to all ranks, and returns what each rank handed over, by rank. All ranks must call
  // it equally often, each from one thread. Throws std::runtime_error if a rank cannot go on.
  virtual std::vector<std::string> Exchange(const std::string& own) = 0;
};

// Does the same with messages about a subject, which every rank states. If the ranks state
// different subjects, throws an error that says so: they have come to different decisions, which
// happens only if their programs or machines differ.
std::vector<std::string> ExchangeAbout(Team& team, uint64_t subject, const std::string& own);

// Returns whether `own` is true on any rank. All ranks must call it.
bool AnySays(Team& team, bool own);

// Returns the error that a rank does not do what rank 0 does.
std::runtime_error UnlikeRanks(int rank);

}  // namespace stagecraft
