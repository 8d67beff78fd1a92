// DapplePolicy: how DAPPLE chooses the GPUs of a stage, and what communication between GPUs costs.
#pragma once

#include <vector>

#include "search/partition/dapple.h"

namespace stagecraft {

// How many GPUs of each machine are taken: always its first ones.
using TakenDevices = std::vector<int>;

enum class DapplePolicy { kFreshFirst, kAppendFirst, kScatterFirst };

// Takes `count` more GPUs and returns them; adds them to `taken`. Precondition: that many are left.
std::vector<int> TakeDevices(const DappleOptions& options, DapplePolicy policy, int count,
                             TakenDevices& taken);

// Returns the seconds for each byte of gradients that `devices` reduce.
double AllReduceSecondsPerByte(const DappleOptions& options, const std::vector<int>& devices);

// Returns the seconds for each byte that all devices of one stage send to all devices of another.
double TransferSecondsPerByte(const DappleOptions& options, const std::vector<int>& from,
                              const std::vector<int>& to);

}  // namespace stagecraft
