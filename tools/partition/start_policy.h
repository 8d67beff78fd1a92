// StartPolicy: the policy with which a search for stages begins.
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
  int batches = 0;       // batches of plans that it has learned from since it was read or made
  bool has_learned() const { return is_read || batches > 0; }
};

// Reads or makes the policy. If there are graphs to learn on, trains it until `budget` ends at the
// latest, and adds notes on the training and on what the graphs leave open. Throws InputError for a
// file that is not a policy, is truncated or has another shape than the request asks for.
StartPolicy MakeStartPolicy(const PartitionRequest& request, Bandwidth bandwidth,
                            const Budget& budget, std::vector<std::string>& notes);

// Writes the policy if the request names a file for it, even if the training was cut short. A
// policy that has learned nothing replaces no file.
void SavePolicy(const PartitionRequest& request, const StartPolicy& start, PartitionAnswer& answer);

}  // namespace stagecraft
