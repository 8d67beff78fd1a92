// Where DAPPLE puts a stage, and what it costs there to talk.
#pragma once

#include <vector>

#include "search/partition/dapple.h"

namespace stagecraft {

// GPUs taken, by machine; the first of each machine are taken first.
using TakenDevices = std::vector<int>;

enum class DapplePolicy { kFreshFirst, kAppendFirst, kScatterFirst };

// `count` more GPUs, as many as are free at least. Adds them to `taken`.
std::vector<int> TakeDevices(const DappleOptions& options, DapplePolicy policy, int count,
                             TakenDevices& taken);

// Seconds per byte of gradients that `devices` agree on.
double AllReduceSecondsPerByte(const DappleOptions& options, const std::vector<int>& devices);

// Seconds per byte that go from all of one stage to all of another.
double TransferSecondsPerByte(const DappleOptions& options, const std::vector<int>& from,
                              const std::vector<int>& to);

}  // namespace stagecraft
