// TraceFormat: which profiler wrote a trace.
#pragma once

#include <optional>
#include <string>

namespace stagecraft {

enum class TraceFormat { kKineto, kNsys, kChakra };

// Returns the format of the file, by the first megabyte of its contents or, for Chakra, by its
// ending (.et or .et.gz); no value for other files, also for one that cannot be read.
std::optional<TraceFormat> FindTraceFormat(const std::string& path);

}  // namespace stagecraft
