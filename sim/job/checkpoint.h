// CheckpointPolicy: what checkpoints cost, how often to write them, and what a run then takes on
// average.
#pragma once

#include "costmodel/units.h"

namespace stagecraft {

struct CheckpointPolicy {
  // The computing time between checkpoints, which are written at the end of the step in which it
  // has passed. If it is zero, none is ever written, and a failed run starts again.
  Duration interval = {};
  Duration write = {};  // The time until a checkpoint is complete: bytes / bandwidth.
  // Whether training goes on during a write, with steps that have `slowdown` less of the devices'
  // speed; if not, it stops.
  bool is_asynchronous = false;
  double slowdown = 0;  // The share of the speed that is lost, in [0, 1).

  bool IsOn() const { return interval > Duration(); }
};

// Both intervals take the time of a synchronous write > 0 and the mean time M between failures of
// the whole run > 0.
//
// Returns the interval that minimises ExpectedRunTime(): M (1 + W(-exp(-write/M - 1))) with the
// principal branch of Lambert's W.
Duration BestCheckpointInterval(Duration write, Duration mtbf);
// Returns sqrt(2 write M), which is right to first order (Young, "A first order approximation to
// the optimum checkpoint interval", CACM 1974).
Duration YoungCheckpointInterval(Duration write, Duration mtbf);

// Returns the mean time of a run of `work` with exponential failures: M e^(restart/M)
// (e^((interval + write)/M) - 1) work/interval (Daly, "A higher order estimate of the optimum
// checkpoint interval for restart dumps", FGCS 2006). `restart` is everything from a failure until
// steps are computed again. `interval` > 0 divides `work`, and the last checkpoint ends the run.
Duration ExpectedRunTime(Duration work, Duration interval, Duration write, Duration restart,
                         Duration mtbf);

}  // namespace stagecraft
