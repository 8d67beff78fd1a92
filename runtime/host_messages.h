// What a message between two processes of a host takes, measured.
#pragma once

#include "costmodel/link.h"
#include "runtime/mpi_world.h"

namespace stagecraft {

// A message between the first two ranks, as the executor sends them (HostExecutor): latency
// by messages of 1 KiB, bandwidth by what ones of 4 MiB take longer. All ranks of the world call it
// together, two or more; the first has the answer.
Link MeasureMessages(MpiWorld& world);

}  // namespace stagecraft
