// A CPU of this host: its name, and what it can do, measured.
#pragma once

#include <string>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "runtime/host_ops.h"

namespace stagecraft {

// The "model name" of the first CPU; "cpu" if the kernel does not state it.
std::string ProcessorName();

// The device "host": one CPU, and all of the memory. Its rate is that of the fastest of some GEMMs
// (HostOps), in every format, since each is computed in 32 bits; the rate of its memory is what it
// reads and writes, 8 MiB at a time. Takes about two seconds, during which all CPUs of the host
// should do the same. `ops` must be made for at least kLargestRated.
Device MeasureProcessor(HostOps& ops);
inline constexpr Bytes kLargestRated = Bytes(12 << 20);

// The same without a measurement: plausible rates of a current CPU, for uses that need a device but
// not its times.
Device NominalProcessor();

}  // namespace stagecraft
