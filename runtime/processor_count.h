#pragma once

namespace stagecraft {

// How many CPUs of this host this thread may run on.
int ProcessorCount();

}  // namespace stagecraft
