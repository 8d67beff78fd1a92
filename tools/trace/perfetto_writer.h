// Writes a TraceView as Perfetto TrackEvent protobuf, for ui.perfetto.dev and
// trace_processor.
#pragma once

#include <ostream>

#include "tools/trace/trace_view.h"

namespace stagecraft {

// Writes packets one by one, in order of time; times are nanoseconds on the boot-time clock, and
// counters state their unit. `out` must be binary; the caller must check its state afterwards.
void WritePerfetto(const TraceView& view, std::ostream& out);

}  // namespace stagecraft
