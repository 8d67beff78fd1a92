// Whether a trace is one that a viewer can show without guessing.
#pragma once

#include <string>

namespace stagecraft {

// Perfetto: every packet parses; slices begin and end in pairs, in order of
// time on their track; every interned id and track is known. Returns what is in
// it: "12 tracks, 480 slices, 96 counter values". Throws InputError that opens
// with `file` and names the first packet that is wrong.
std::string CheckPerfettoTrace(const std::string& bytes, const std::string& file);

// Chrome trace-event JSON: `traceEvents` is there, events have what their phase
// needs, and the slices of a thread nest. Microseconds are compared as whole
// nanoseconds.
std::string CheckChromeTrace(const std::string& text, const std::string& file);

}  // namespace stagecraft
