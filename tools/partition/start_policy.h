// The policy that a search for stages begins with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/stages/stage_policy.h"
#include "tools/partition/partition_request.h"

namespace stagecraft {

struct StartPolicy {
  StagePolicy policy;
  bool has_learned = false;  // it was read or trained
};

// Reads or makes it, and trains it where there are graphs to learn from; what
// these leave open is noted in `notes`. Throws InputError for a file that is no
// policy, is cut short or of another shape than is asked for.
StartPolicy MakeStartPolicy(const PolicyRequest& request, Bandwidth bandwidth, uint64_t seed,
                            std::vector<std::string>& notes);

}  // namespace stagecraft
