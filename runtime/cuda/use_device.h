// The CUDA devices of this machine, by number.
#pragma once

#include <string>

namespace stagecraft {

// Returns the number of devices, at least one. Throws an InputError, a sentence that begins with
// `place`, if there is no driver or no device.
int CountDevices(const std::string& place);

// Makes the device with this number, in CUDA's order, the current one. Throws in the same cases,
// and if the device does not exist.
void UseDevice(int ordinal, const std::string& place);

}  // namespace stagecraft
