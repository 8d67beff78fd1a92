// TraceFormat: which profiler wrote a trace.
#pragma once

#include <optional>
#include <string>

namespace stagecraft {

enum class TraceFormat { kKineto, kNsys, kChakra };

// Returns the format of the file, by the first megabyte of its contents or, for Chakra, by its
// ending (.et or .et.gz). No value for a file of another format, for an empty one, and for what is
// no file. Throws InputError for a file that cannot be opened and for damaged gzip data.
std::optional<TraceFormat> FindTraceFormat(const std::string& path);

}  // namespace stagecraft
