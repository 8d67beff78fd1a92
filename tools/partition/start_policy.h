// The policy that a search for stages begins with.
#pragma once

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/stages/stage_policy.h"
#include "search/solution.h"
#include "tools/partition/partition_request.h"

namespace stagecraft {

struct StartPolicy {
  StagePolicy policy;
  bool is_read = false;  // from a file
  int batches = 0;       // of plans that it learned from since
  bool has_learned() const { return is_read || batches > 0; }
};

// Reads or makes it, and trains it where there are graphs to learn from, until `budget`
// ends; what these leave open is noted in `notes`. Throws InputError for a file that is no
// policy, is cut short or of another shape than is asked for.
StartPolicy MakeStartPolicy(const PartitionRequest& request, Bandwidth bandwidth,
                            const Budget& budget, std::vector<std::string>& notes);

// Where a file was asked for: what it learned, even where that was cut short. One that
// learned nothing replaces no file.
void SavePolicy(const PartitionRequest& request, const StartPolicy& start, PartitionAnswer& answer);

}  // namespace stagecraft
