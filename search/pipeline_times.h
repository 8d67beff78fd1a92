// PipelineTimes: a lower bound of the time of a step, as a function of its micro-batches.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/chunk_map.h"

namespace stagecraft {

// What the parts of a chain take for one micro-batch, in the order of the chain.
struct PartTimes {
  std::vector<Duration> forward, backward;
};

// What must come before and after the passes of a stage.
struct PipelineEnds {
  bool fills = true;   // the forwards of one micro-batch through all parts before its first one
  bool drains = true;  // the backwards of one micro-batch through these parts
};

// PipelineTimes knows of every stage how long its passes take per micro-batch, and what comes
// before and after them. Only stages that may be the last to end are kept: with equal stages these
// are one or two.
//
// Cost: a bound takes some nanoseconds; to make it takes a few for each chunk of each stage.
class PipelineTimes {
 public:
  PipelineTimes(const ChunkMap& map, const PartTimes& parts, const PipelineEnds& ends);

  // Returns the longest time over the stages: passes of this many micro-batches, one after another,
  // with what comes before and after them. Grows with the number of micro-batches.
  Duration Of(int64_t micro_batches) const;

 private:
  // A stage: `rounds` micro-batches through each chain, and one more through the first chains.
  struct Stage {
    Duration per_round;
    Duration rest;
  };
  std::vector<std::vector<Stage>> stages_;  // by how many chains have one micro-batch more
};

}  // namespace stagecraft
