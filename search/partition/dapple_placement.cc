#include "search/partition/dapple_placement.h"

#include <algorithm>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

bool AreOnOneMachine(const DappleOptions& options, const std::vector<int>& devices) {
  return std::all_of(devices.begin(), devices.end(), [&](int device) {
    return device / options.devices_per_machine == devices[0] / options.devices_per_machine;
  });
}

}  // namespace

std::vector<int> TakeDevices(const DappleOptions& options, DapplePolicy policy, int count,
                             TakenDevices& taken) {
  const int each = options.devices_per_machine;
  const TakenDevices before = taken;
  std::vector<int> devices;
  const auto take = [&](int machine) {
    if (static_cast<int>(devices.size()) == count || taken[machine] == each) return false;
    devices.push_back(machine * each + taken[machine]++);
    return true;
  };
  if (policy == DapplePolicy::kScatterFirst) {
    for (bool took = true; took;) {
      took = false;
      for (int machine = 0; machine < options.machines; ++machine) took = take(machine) || took;
    }
  } else {
    for (const bool is_first : {true, false}) {
      const bool wants_fresh = (policy == DapplePolicy::kFreshFirst) == is_first;
      for (int machine = 0; machine < options.machines; ++machine) {
        if ((before[machine] == 0) != wants_fresh) continue;
        while (take(machine)) {
        }
      }
    }
  }
  CHECK(static_cast<int>(devices.size()) == count);
  std::sort(devices.begin(), devices.end());
  return devices;
}

double AllReduceSecondsPerByte(const DappleOptions& options, const std::vector<int>& devices) {
  const auto count = static_cast<double>(devices.size());
  if (devices.size() < 2) return 0;
  const double sent = 2 * (count - 1) / count;
  if (!AreOnOneMachine(options, devices)) {
    return sent / options.between_collective.bytes_per_s();
  }
  const auto pairs = static_cast<double>(devices.size() / 2);
  return sent / options.inside.bytes_per_s() / pairs;
}

double TransferSecondsPerByte(const DappleOptions& options, const std::vector<int>& from,
                              const std::vector<int>& to) {
  if (!AreOnOneMachine(options, to)) return 1 / options.between_collective.bytes_per_s();
  const int machine = to[0] / options.devices_per_machine;
  const auto outside = std::count_if(from.begin(), from.end(), [&](int device) {
    return device / options.devices_per_machine != machine;
  });
  if (outside == 0) return 1 / options.inside.bytes_per_s();
  return static_cast<double>(outside) / static_cast<double>(from.size()) /
         options.between.bytes_per_s();
}

}  // namespace stagecraft
