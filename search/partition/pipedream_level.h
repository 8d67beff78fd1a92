// PipeDreamLevel: what stages cost on the machines of one level, and the best time of every run of
// states on all of them.
#pragma once

#include "search/partition/min_max_product.h"
#include "search/partition/pipedream.h"

namespace stagecraft {

// Runs of states are named by the states that are done before and after: (begin, end) is everything
// of state `end` that state `begin`-1 does not hold; begin = 0 is the start.
class PipeDreamLevel {
 public:
  // `one_machine`(begin, end) is the time of the run on one machine of this level. `within` is the
  // number of machines in one of them. `states`, `options` and `one_machine` must outlive it.
  PipeDreamLevel(const AntichainStates& states, const PipeDreamOptions& options,
                 const MachineLevel& level, int within, const TimeTable& one_machine);

  int machines() const { return level_.machines; }
  // How many of `available` machines a stage may take.
  int MostReplicas(int available) const {
    return options_.straight && available > 1 ? 1 : available;
  }
  // The time of the first stage of the level.
  double FirstStage(int begin, int end, int replicas) const;
  // The time of a stage behind others, with the transfers at its cut. `used` is the number of
  // machines of all stages up to and including it.
  double LaterStage(int begin, int end, int used, int replicas) const;

  // By run, the best time on all machines; only the row of begin = 0 if `only_whole`. Throws
  // Stopped.
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
