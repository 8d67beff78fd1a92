// Writes a TraceView as Chrome trace-event JSON, for viewers that read nothing
// newer. Prefer perfetto_writer.h: this form is twice the size.
#pragma once

#include <ostream>

#include "tools/trace/trace_view.h"

namespace stagecraft {

// One line per event. Ranks are processes, lanes threads; times are
// microseconds with the nanoseconds as three decimals, counters bytes. The
// caller looks at the state of `out` afterwards.
void WriteChrome(const TraceView& view, std::ostream& out);

}  // namespace stagecraft
