// Writes a TraceView as Chrome trace-event JSON, for viewers that read nothing newer. Prefer
// perfetto_writer.h, since files of this format are twice as large.
#pragma once

#include <ostream>

#include "tools/trace/trace_view.h"

namespace stagecraft {

// Writes one line for each event. Ranks are processes and lanes are threads; times are in
// microseconds with three decimals, counters in bytes, ns or a count. The caller must check the
// state of `out` afterwards.
void WriteChrome(const TraceView& view, std::ostream& out);

}  // namespace stagecraft
