// Checks whether a viewer can show a trace without guessing.
#pragma once

#include <string>

namespace stagecraft {

// Checks a trace in Perfetto's format: every packet must parse; slices must begin and end in pairs,
// in order of time on their track; every interned id and track must be known. Returns what is in
// it: "12 tracks, 480 slices, 96 counter values". Throws an InputError that begins with `file` and
// names the first packet that is wrong.
std::string CheckPerfettoTrace(const std::string& bytes, const std::string& file);

// Checks Chrome trace-event JSON, a list of events or an object whose `traceEvents` are one: events
// must have what their phase requires, and the slices of a thread must nest. Microseconds are
// compared as whole nanoseconds. Returns what is in it, and throws, as CheckPerfettoTrace().
std::string CheckChromeTrace(const std::string& text, const std::string& file);

}  // namespace stagecraft
