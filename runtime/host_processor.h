// A processor of this host: its name, and what it can do, measured.
#pragma once

#include <string>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "runtime/host_ops.h"

namespace stagecraft {

// "model name" of the first processor; "cpu" where the kernel does not say.
std::string ProcessorName();

// Processors of this host that may be used.
int ProcessorCount();

// The device "host": one processor, with its even share of the memory. Its rate is that of
// the fastest of some products (HostOps), in every format, since each is computed in 32
// bits; its memory's what MeasureStreaming() says. Takes about two seconds.
Device MeasureProcessor(HostOps& ops);

// The same without a measurement: rates that any processor of these years has, for what
// needs a device and not its times.
Device NominalProcessor();

// What one processor reads and writes of memory in a second, blocks of 8 MiB at a time; the
// fastest of some. `ops` take as much.
Bandwidth MeasureStreaming(HostOps& ops);
inline constexpr Bytes kStreamedBlock = Bytes(8 << 20);

}  // namespace stagecraft
