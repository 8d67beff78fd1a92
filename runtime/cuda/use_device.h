// The CUDA devices of this machine, by number.
#pragma once

#include <string>

namespace stagecraft {

// The number of devices, at least one. Throws an InputError, a sentence that begins with `place`,
// if there is no driver or no device.
int CountDevices(const std::string& place);

// Makes a device the current one, in CUDA's order. Throws in the same way, also if it is not there.
void UseDevice(int ordinal, const std::string& place);

}  // namespace stagecraft
