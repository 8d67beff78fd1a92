// Decides how often an op is run until its time is known.
#pragma once

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "runtime/profile/op_timer.h"

namespace stagecraft {

// Before each batch a GPU fills its cache with other data, by reading three times 50 MB at 1.5
// TB/s, and is then kept busy until its host, however slow it is, has queued the batch.
constexpr Duration kCacheFlush = 100_us;
constexpr Duration kHeadStart = 200_us;

// How an op is measured. Calls are measured in batches of as many as fill `batch`, since the
// resolution of an event is half a microsecond.
struct MeasuringRules {
  Duration warm_up = 3_ms;                           // at least one call; includes beside_calls
  Duration beside_calls = kCacheFlush + kHeadStart;  // unmeasured time of a batch
  Duration batch = 500_us;
  int most_calls = 256;  // in a batch
  int least_batches = 5;
  int most_batches = 60;
  // Measuring ends when the standard error of the median, or mean, of the batches is below this
  // share of it.
  double goal = 0.004;
  // No further batch begins after this much measured time, once there are `least_batches`.
  Duration limit = 30_ms;
  // Whether the time is the mean over batches instead of the median. This is right if what slows
  // some of them down also slows down what is predicted.
  bool takes_mean = false;
  // The number of ops that are measured in turn, and the turns of each; the time of an op is the
  // mean over its turns. This is for devices that are faster in one second than in the next.
  int ops_in_turn = 1;
  int turns = 1;
};

// Returns the rules for a device. Those for the CPU of a host differ, since it is shared with
// everything else that the host does.
MeasuringRules RulesFor(const Device& device);

struct OpMeasurement {
  Duration time;      // of one call, over batches
  double spread = 0;  // sigma of log(time of a batch)
  int batches = 0;
  bool reached_goal = false;
};

// Measures an op for one turn.
OpMeasurement Measure(TimedOp& op, const MeasuringRules& rules);

// Returns an upper bound of the time that all turns take for an op of this time, except for the
// last batch.
Duration LongestMeasuring(Duration time_of_call, const MeasuringRules& rules);

}  // namespace stagecraft
