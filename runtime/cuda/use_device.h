// The CUDA devices of this machine, by number.
#pragma once

#include <string>

namespace stagecraft {

// At least one. Throws InputError, a sentence that begins with `place`, where no driver or no
// device is.
int CountDevices(const std::string& place);

// Makes a device the current one. `ordinal` as CUDA counts. Throws likewise, also where it is not
// there.
void UseDevice(int ordinal, const std::string& place);

}  // namespace stagecraft
