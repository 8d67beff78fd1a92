// A processor of this host: its name, and what it can do, measured.
#pragma once

#include <string>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "runtime/host_ops.h"

namespace stagecraft {

// "model name" of the first processor; "cpu" where the kernel does not say.
std::string ProcessorName();

// The device "host": one processor, and all of the memory. Its rate is that of the fastest
// of some products (HostOps), in every format, since each is computed in 32 bits; its
// memory's is what it reads and writes, 8 MiB at a time. Takes about two seconds, in which all
// processors of the host are to do the same. `ops` are made for kLargestRated at least.
Device MeasureProcessor(HostOps& ops);
inline constexpr Bytes kLargestRated = Bytes(12 << 20);

// The same without a measurement: rates that any processor of these years has, for what
// needs a device and not its times.
Device NominalProcessor();

}  // namespace stagecraft
