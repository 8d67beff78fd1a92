#pragma once

namespace stagecraft {

// Returns how many CPUs of this host this thread may run on.
int ProcessorCount();

}  // namespace stagecraft
