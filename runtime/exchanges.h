// Exchanges: what a rank's steps send, receive and reduce over MPI, and its signals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/mpi_world.h"
#include "runtime/rank_program.h"
#include "runtime/rank_work.h"
#include "runtime/step_board.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Once it is made, nothing of it waits. Of threads that share it, one at a time calls.
class Exchanges {
 public:
  // All outlive it. Makes the groups that the program needs: all ranks make theirs
  // together.
  Exchanges(const Schedule& schedule, const RankProgram& program, MpiWorld& world, RankWork& work);
  ~Exchanges();

  // Begins what the board has to exchange, and ends what is over; `begun` and `ended` hear
  // of each. Whether anything went on.
  using Note = std::function<void(int32_t step)>;
  bool Advance(StepBoard& board, const Note& begun, const Note& ended);

  // A collective among the ops of a computed step, one at a time.
  void BeginOp(int32_t step, int index);
  bool IsOpOver();
  // Says to others that a computed step has ended.
  void Signal(int32_t step);

 private:
  struct Requests;

  const Op& OpOf(int32_t step, int index) const;
  // Of a collective; nothing for other ops.
  MpiWorld::Group* GroupOf(int32_t step, int index);
  // Of what is under way, by its place among it.
  void Begin(size_t index);
  void End(size_t index, StepBoard& board, const Note& ended);

  const Schedule& schedule_;
  const RankProgram& program_;
  MpiWorld& world_;
  RankWork& work_;
  MpiWorld::Group& messages_;
  MpiWorld::Group& words_;  // signals
  std::unique_ptr<Requests> requests_;
};

}  // namespace stagecraft
