// How often an op is run until its time is known.
#pragma once

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "runtime/profile/op_timer.h"

namespace stagecraft {

// Before each batch a GPU fills its cache with something else, by reading three times 50 MB at 1.5
// TB/s, and is then kept busy until its host, however slow it is, has queued the batch.
constexpr Duration kCacheFlush = 100_us;
constexpr Duration kHeadStart = 200_us;

// Calls are measured in batches, as many in one as fill `batch`: the resolution of an event is half
// a microsecond.
struct MeasuringRules {
  Duration warm_up = 3_ms;  // at least one call; time beside calls counts too
  Duration beside_calls = kCacheFlush + kHeadStart;  // time of a batch that is not measured
  Duration batch = 500_us;
  int most_calls = 256;  // in a batch
  int least_batches = 5;
  int most_batches = 60;
  // Batches suffice when the standard error of their median, or mean, is below this share of it.
  double goal = 0.004;
  // No further batch after this much measured time, once `least_batches` are done.
  Duration limit = 30_ms;
  // Whether the mean over batches is taken in place of the median: where what slows some of them
  // also slows what is predicted.
  bool takes_mean = false;
  // How many ops are measured in turn, each `turns` times; the time of each is the mean over its
  // turns. For devices that are faster in one second than in the next.
  int ops_in_turn = 1;
  int turns = 1;
};

// The CPU of a host is shared with whatever else the host does.
MeasuringRules RulesFor(const Device& device);

struct OpMeasurement {
  Duration time;      // of one call, over batches
  double spread = 0;  // sigma of log(time of a batch)
  int batches = 0;
  bool reached_goal = false;
};

// Measures one turn.
OpMeasurement Measure(TimedOp& op, const MeasuringRules& rules);

// The longest time that all turns take for an op of that time, except for the last batch.
Duration LongestMeasuring(Duration time_of_call, const MeasuringRules& rules);

}  // namespace stagecraft
