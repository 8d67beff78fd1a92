// StageMove: a small change of a plan that leaves it valid.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/random.h"
#include "search/partition/stages/stage_state.h"

namespace stagecraft {

struct StageMove {
  enum class Kind {
    kPull,      // `node` and all that it needs in its stage go to the stage before
    kPush,      // `node` and all that need it in its stage go to the next stage
    kPullOne,   // like kPull, with the first operator on a path back from `node`
    kPushOne,   // like kPush, with the last operator on a path on from `node`
    kReplicas,  // `stage` gets `on`
    kGive,      // `stage` gives a replica to `other`, of the same kind
    kSwap,      // `stage` and `other` swap devices
    kSplit,     // `node` and all that it needs in its stage become a stage on `on`
    kMerge,     // `stage` takes in the next one, whose devices are free again
  };
  Kind kind;
  int node = 0;
  int stage = 0;
  int other = 0;
  StageReplicas on = {};
};

// Makes a move. A stage that is left without nodes, or without replicas, is removed. Returns false,
// and changes nothing, if the move is not possible. What was done since the last Keep() can be
// undone.
bool Apply(const StageMove& move, StageState& state);

// Returns a drawn move, which may not be possible.
StageMove DrawMove(const StageState& state, const std::vector<StageReplicas>& choices,
                   Random& random);

// Returns the moves that could make `stage` faster.
std::vector<StageMove> MovesThatRelieve(int stage, const StageState& state,
                                        const std::vector<StageReplicas>& choices);

}  // namespace stagecraft
