// Exchanges: what the tasks of a rank send, receive and reduce over MPI, and its signals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/mpi_world.h"
#include "runtime/rank_program.h"
#include "runtime/rank_progress.h"
#include "runtime/rank_work.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Once it is made, none of its calls waits. Threads that share it must call it one at a time.
class Exchanges {
 public:
  // All arguments must outlive it. Makes the groups that the program needs: all ranks must make
  // theirs together.
  Exchanges(const Schedule& schedule, const RankProgram& program, MpiWorld& world, RankWork& work);
  ~Exchanges();

  // Begins what the GPU has to exchange, and ends what is over; `begun` and `ended` are called
  // for each. Returns whether anything made progress.
  using Note = std::function<void(int32_t step)>;
  bool Advance(RankProgress& progress, const Note& begun, const Note& ended);

  // Begins a collective among the ops of a computed step; only one at a time.
  void BeginOp(int32_t step, int index);
  bool IsOpOver();
  // Tells other ranks that a computed step has ended.
  void Signal(int32_t step);

 private:
  struct Requests;

  const Op& OpOf(int32_t step, int index) const;
  // The group of a collective; nullptr for other ops.
  MpiWorld::Group* GroupOf(int32_t step, int index);
  // Begins the exchange at this place among those in flight.
  void Begin(size_t index);
  void End(size_t index, RankProgress& progress, const Note& ended);

  const Schedule& schedule_;
  const RankProgram& program_;
  MpiWorld& world_;
  RankWork& work_;
  MpiWorld::Group& messages_;
  MpiWorld::Group& words_;  // signals
  std::unique_ptr<Requests> requests_;
};

}  // namespace stagecraft
