// What `partition` prints.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "tools/partition/partition_request.h"

namespace stagecraft {

// Returns the report as JSON, without its header and wall_ms.
nlohmann::ordered_json PartitionToJson(const PartitionRequest& request,
                                       const PartitionAnswer& answer);

// Returns the exit code of an answer. A problem that is proven to have no partition is infeasible,
// even if Ctrl-C came while the reason was being determined.
int ExitCodeOf(const PartitionAnswer& answer);

// Prints what each search found, the figures, the notes and the stages.
void PrintPartition(const PartitionAnswer& answer, std::ostream& out);

}  // namespace stagecraft
