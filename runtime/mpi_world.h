// MpiWorld: the processes that were started together, one for each rank.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

// The processes are started by mpirun or by another launcher that MPI knows; a process that was
// started alone is a world of one. Make one object in each process, first in main(), and destroy it
// last. A call that fails ends all processes with MPI's own message.
class MpiWorld {
 public:
  MpiWorld();
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  void Barrier();
  // Returns the name and version of MPI: "Open MPI v4.1.4".
  static std::string Software();
  // Replaces each element by its maximum over all ranks; every rank gets the result.
  void Max(std::span<int64_t> values);
  // Returns the time on a clock that all ranks share; between hosts it may be off by some
  // microseconds.
  Duration Now() const;
  // Prints the reason, and ends the processes of all ranks.
  [[noreturn]] void Abort(const std::string& why);

  // MPI's communicator of a group of ranks that run collectives on one kind of lane. It exists as
  // long as the world. All ranks of a group must call GroupOf() for their groups in the same order.
  struct Group;
  Group& GroupOf(const std::vector<int32_t>& ranks, int lane);

 private:
  void AlignClocks();

  int rank_ = 0;
  int size_ = 1;
  Duration clock_offset_;
  std::map<std::pair<std::vector<int32_t>, int>, std::unique_ptr<Group>> groups_;
};

}  // namespace stagecraft
