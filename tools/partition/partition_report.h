// What `partition` prints.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "tools/partition/partition_request.h"

namespace stagecraft {

// Keys of the report, but for its header and wall_ms.
nlohmann::ordered_json PartitionToJson(const PartitionRequest& request,
                                       const PartitionAnswer& answer);

// Of an answer that is no error. What is proven to have no partition is that, even where Ctrl-C
// came while its reason was sought.
int ExitCodeOf(const PartitionAnswer& answer);

// Figures, what each search came to, notes, stages.
void PrintPartition(const PartitionAnswer& answer, std::ostream& out);

}  // namespace stagecraft
