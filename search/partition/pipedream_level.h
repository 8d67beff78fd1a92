// PipeDreamLevel: what stages take on the machines of one level, and the best time of every run of
// states on all of these machines.
#pragma once

#include "search/partition/min_max_product.h"
#include "search/partition/pipedream.h"

namespace stagecraft {

// The run of states (begin, end) is everything that is done in state `end` but not in state
// `begin`-1; begin = 0 is the start.
class PipeDreamLevel {
 public:
  // `one_machine`(begin, end) is the time of the run on one machine of this level. `within` is how
  // many machines of the level below one machine of this level has. `states`, `options` and
  // `one_machine` must outlive this object.
  PipeDreamLevel(const AntichainStates& states, const PipeDreamOptions& options,
                 const MachineLevel& level, int within, const TimeTable& one_machine);

  int machines() const { return level_.machines; }
  // Returns how many of `available` machines a stage may take.
  int MostReplicas(int available) const {
    return options_.straight && available > 1 ? 1 : available;
  }
  // Returns the time of the first stage of the level.
  double FirstStage(int begin, int end, int replicas) const;
  // Returns the time of a stage behind others, with the transfers at its cut. `used` is the number
  // of machines of all stages up to and including this one.
  double LaterStage(int begin, int end, int used, int replicas) const;

  // Returns the best time of each run on all machines; only the row of begin = 0 if `only_whole`.
  // Throws Stopped.
  TimeTable Best(bool only_whole, const StopSign& stop) const;

 private:
  struct Run {
    double parameters = 0;
    double stash = 0;  // bytes of one copy of parameters and activations
  };
  Run RunOf(int begin, int end) const;
  bool Fits(const Run& run, int used, int replicas) const;
  TimeTable FirstStages(int rows, int replicas) const;
  TimeTable LaterStages(int used, int replicas) const;

  const AntichainStates& states_;
  const PipeDreamOptions& options_;
  const MachineLevel level_;
  const double within_;
  const TimeTable& one_machine_;
};

}  // namespace stagecraft
