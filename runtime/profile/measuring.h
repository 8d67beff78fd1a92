// How often an op is run until its time is known.
#pragma once

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "runtime/profile/op_timer.h"

namespace stagecraft {

// Before each batch a GPU reads its cache full of something else, three times 50 MB at 1.5 TB/s,
// and is then kept busy until its host, however slow it is, has queued the batch.
constexpr Duration kCacheFlush = 100_us;
constexpr Duration kHeadStart = 200_us;

// Calls are measured in batches, as many in one as fill `batch`: an event's
// resolution is half a microsecond.
struct MeasuringRules {
  Duration warm_up = 3_ms;  // at least one call; what lies beside calls counts too
  Duration beside_calls = kCacheFlush + kHeadStart;  // that a batch takes, and that is not measured
  Duration batch = 500_us;
  int most_calls = 256;  // of a batch
  int least_batches = 5;
  int most_batches = 60;
  // Enough batches: the standard error of their median, or mean, is below this share of it.
  double goal = 0.004;
  // No further batch after so much measured time, `least_batches` done.
  Duration limit = 30_ms;
  // The mean over batches in place of the median: where what slows some of them slows what
  // is predicted too.
  bool takes_mean = false;
  // So many ops are measured in turn, each `turns` times, and each one's time is the mean
  // over its turns: where a device is quicker in one second than in the next.
  int ops_in_turn = 1;
  int turns = 1;
};

// A processor is shared with whatever else its host does.
MeasuringRules RulesFor(const Device& device);

struct OpMeasurement {
  Duration time;      // of one call, over batches
  double spread = 0;  // sigma of log(time of a batch)
  int batches = 0;
  bool reached_goal = false;
};

// One turn.
OpMeasurement Measure(TimedOp& op, const MeasuringRules& rules);

// The longest that all turns take for an op of that time, but for the last batch.
Duration LongestMeasuring(Duration time_of_call, const MeasuringRules& rules);

}  // namespace stagecraft
