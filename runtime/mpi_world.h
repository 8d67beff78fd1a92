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

// Started by mpirun or by a launcher that MPI knows; a process alone is a world of one. Make one in
// each process, first in main and destroyed last. A call that fails ends all processes with MPI's
// own message.
class MpiWorld {
 public:
  MpiWorld();
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  void Barrier();
  // "Open MPI v4.1.4".
  static std::string Software();
  // Takes, element by element, the maximum over all ranks; every rank gets it.
  void Max(std::span<int64_t> values);
  // The time on a clock that all ranks share, up to some microseconds between hosts.
  Duration Now() const;
  // Prints the reason, and ends the processes of all ranks.
  [[noreturn]] void Abort(const std::string& why);

  // MPI's communicator of a group of ranks that run collectives on one kind of lane; it exists as
  // long as the world. All ranks of a group must ask for all their groups in the same order.
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
