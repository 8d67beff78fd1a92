#pragma once

namespace stagecraft {

// Processors of this host that this thread may run on.
int ProcessorCount();

}  // namespace stagecraft
