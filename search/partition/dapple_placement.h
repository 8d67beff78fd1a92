// Where DAPPLE places a stage, and what communication costs there.
#pragma once

#include <vector>

#include "search/partition/dapple.h"

namespace stagecraft {

// How many GPUs are taken, by machine; the first ones of each machine are taken first.
using TakenDevices = std::vector<int>;

enum class DapplePolicy { kFreshFirst, kAppendFirst, kScatterFirst };

// Takes `count` more GPUs, of which there must be as many, and adds them to `taken`.
std::vector<int> TakeDevices(const DappleOptions& options, DapplePolicy policy, int count,
                             TakenDevices& taken);

// Seconds for each byte of gradients that `devices` reduce.
double AllReduceSecondsPerByte(const DappleOptions& options, const std::vector<int>& devices);

// Seconds for each byte that all devices of one stage send to all of another.
double TransferSecondsPerByte(const DappleOptions& options, const std::vector<int>& from,
                              const std::vector<int>& to);

}  // namespace stagecraft
