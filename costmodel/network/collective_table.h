// The shared table of measured collectives (data/network in the shared data; its
// README says what the columns mean).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/network/network_sample.h"

namespace stagecraft {

struct CollectiveTable {
  std::vector<NetworkSample> samples;  // rows with valid = 1, in their order
  int64_t invalid = 0;                 // rows the table itself says are no measurements
};

// From the bytes of a file, gzipped or not. Throws InputError:
// "collectives.csv:3: op: got "sum", want all_reduce, all_gather, ...".
CollectiveTable ParseCollectiveTable(std::string_view bytes, const std::string& path);
CollectiveTable ReadCollectiveTable(const std::string& path);

}  // namespace stagecraft
