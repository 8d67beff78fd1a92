// Measures how long a message between two processes of a host takes.
#pragma once

#include "costmodel/link.h"
#include "runtime/mpi_world.h"

namespace stagecraft {

// A message between the first two ranks, as the executor sends them (HostExecutor): the latency by
// messages of 1 KiB, the bandwidth by how much longer messages of 4 MiB take. All ranks of the
// world, at least two, call it together; the first rank has the answer.
// together, two or more; the first has the answer.
Link MeasureMessages(MpiWorld& world);

}  // namespace stagecraft
