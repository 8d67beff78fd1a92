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

// No method waits, only the constructor does. Threads that share an object must not call it at the
// same time.
class Exchanges {
 public:
  // Makes the groups that the program needs, for which all ranks must construct theirs together.
  // All arguments must outlive the object.
  Exchanges(const Schedule& schedule, const RankProgram& program, MpiWorld& world, RankWork& work);
  ~Exchanges();

  // Begins all exchanges that the GPU allows, and completes those that are over; calls `begun`
  // and `ended` for each of them. Returns whether anything made progress.
  using Note = std::function<void(int32_t step)>;
  bool Advance(RankProgress& progress, const Note& begun, const Note& ended);

  // Begins a collective among the ops of a computed step. Only one may be in flight at a time.
  void BeginOp(int32_t step, int index);
  bool IsOpOver();
  // Tells the ranks that wait for a computed step that it has ended.
  void Signal(int32_t step);

 private:
  struct Requests;

  const Op& OpOf(int32_t step, int index) const;
  // Returns the group of a collective; nullptr for other ops and for send/recv.
  MpiWorld::Group* GroupOf(int32_t step, int index);
  // Begins the exchange with this index among those in flight.
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
