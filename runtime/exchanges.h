// Exchanges: what a rank's steps send, receive and reduce over MPI, and its signals.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/mpi_world.h"
#include "runtime/rank_program.h"
#include "runtime/rank_work.h"
#include "runtime/step_board.h"
#include "sim/schedule.h"

namespace stagecraft {

class Exchanges {
 public:
  // All outlive it. Makes the groups that the program needs: all ranks make theirs
  // together.
  Exchanges(const Schedule& schedule, const RankProgram& program, MpiWorld& world, RankWork& work);
  ~Exchanges();

  // Runs every step that is not computed, until the last has ended; `begun` and `ended`
  // hear of each.
  using Note = std::function<void(int32_t step)>;
  void Run(StepBoard& board, const Note& begun, const Note& ended);

  // A collective among the ops of a computed step, to its end; on the computing thread.
  void RunOp(int32_t step, int index);
  // Says to others that a computed step has ended.
  void Signal(int32_t step);

 private:
  struct Requests;
  struct Running;

  const Op& OpOf(int32_t step, int index) const;
  // Of a collective; nothing for other ops.
  MpiWorld::Group* GroupOf(int32_t step, int index);
  void BeginOp(Running& running);
  // Whether any went on.
  bool Advance(StepBoard& board, const Note& ended);

  const Schedule& schedule_;
  const RankProgram& program_;
  MpiWorld& world_;
  RankWork& work_;
  MpiWorld::Group& messages_;
  MpiWorld::Group& words_;  // signals
  std::unique_ptr<Requests> requests_;
};

}  // namespace stagecraft
