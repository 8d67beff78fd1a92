// MpiTeam: a Team of all processes that mpirun started.
#pragma once

#include <sys/types.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "search/team.h"
#include "tools/ranks/launched_rank.h"
#include "tools/ranks/mpi_library.h"

namespace stagecraft {

// Another rank could not go on. The sentence begins with its rank: "rank 2: ...".
class RankFailure : public std::runtime_error {
 public:
  RankFailure(const std::string& what, bool is_bad_input)
      : std::runtime_error(what), is_bad_input(is_bad_input) {}

  const bool is_bad_input;  // what a user can correct (InputError)
};

// Make one object in each process; MPI begins with it and ends with it. Rank 0 collects what the
// ranks exchange and hands it to all, so an exchange costs two messages one after another, and
// traffic grows with the number of ranks times what they exchange.
class MpiTeam : public Team {
 public:
  // Throws InputError if MPI is missing, or if it sees other ranks than the launcher named.
  explicit MpiTeam(const LaunchedRank& launched);
  ~MpiTeam() override;
  MpiTeam(const MpiTeam&) = delete;
  MpiTeam& operator=(const MpiTeam&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  // Throws RankFailure if a rank has called Fail(), or has died on this machine. (If one dies on
  // another machine, mpirun ends all others.)
  std::vector<std::string> Exchange(const std::string& own) override;

  // Ends the team: waits until all ranks have ended it. Throws like Exchange().
  void Finish();
  // Tells the other ranks, in place of an exchange, that this one cannot go on. No exchange may
  // follow.
  void Fail(const std::string& what, bool is_bad_input);

 private:
  // What a message holds: data, or that a rank has come to the end, or why it cannot go on.
  enum class Kind : char { kData, kEnd, kBadInput, kFailure };

  // Exchanges messages, each with its kind before it. Throws RankFailure for the first rank that
  // cannot go on, and UnlikeRanks() for the first whose message is of another kind than `kind`.
  std::vector<std::string> ExchangeAs(Kind kind, const std::string& own);
  // Exchanges messages, whatever they hold.
  std::vector<std::string> ExchangeAll(const std::string& own);
  // Begins to send; the bytes must stay until it is done.
  MPI_Request Send(const std::string& bytes, int to) const;
  std::string Receive(int from);
  // Waits for a rank until `is_done` says so.
  void WaitFor(int rank, const std::function<bool()>& is_done);
  // Learns which processes of this machine the ranks are.
  void MeetRanks();
  bool HasDied(int rank) const;

  const MpiLibrary mpi_;
  int rank_ = 0;
  int size_ = 1;
  std::vector<pid_t> processes_;  // by rank; 0: on another machine
  bool has_lost_rank_ = false;    // MPI cannot end in order
};

}  // namespace stagecraft
