// A CPU of this host as a device: its name, and its measured rates.
#pragma once

#include <string>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "runtime/host_ops.h"

namespace stagecraft {

// Returns the "model name" of the first CPU; "cpu" if the kernel does not state it.
std::string ProcessorName();

// Returns the device "host": one CPU with all of the memory. Its rate is that of the fastest of
// some GEMMs (HostOps), the same in every format, since each is computed in 32 bits; its memory
// bandwidth is the rate of reading and writing 8 MiB at a time. Takes about two seconds, during
// which all CPUs of the host should do the same. `ops` must be made for at least kLargestRated.
Device MeasureProcessor(HostOps& ops);
inline constexpr Bytes kLargestRated = Bytes(12 << 20);

// Returns the same device with plausible rates of a current CPU in place of measured ones, for uses
// that need a device but not its times.
Device NominalProcessor();

}  // namespace stagecraft
