// Writes a TraceView as Chrome trace-event JSON, for viewers that read nothing newer. Prefer
// perfetto_writer.h: this format takes twice the size.
#pragma once

#include <ostream>

#include "tools/trace/trace_view.h"

namespace stagecraft {

// Writes one line for each event. Ranks are processes, lanes threads; times are microseconds with
// the nanoseconds as three decimals, counters bytes. The caller must check the state of `out`
// afterwards.
void WriteChrome(const TraceView& view, std::ostream& out);

}  // namespace stagecraft
