// Measures how long a message between two processes of a host takes.
#pragma once

#include "costmodel/link.h"
#include "runtime/mpi_world.h"

namespace stagecraft {

// Measures a message between the first two ranks, sent as HostExecutor sends messages: the latency
// from messages of 1 KiB, the bandwidth from how much longer messages of 4 MiB take. All ranks of
// the world, at least two, call it together and get the same result.
Link MeasureMessages(MpiWorld& world);

}  // namespace stagecraft
