// Writes traces to files, whose extension decides the format.
#pragma once

#include <string>

#include "tools/trace/trace_view.h"

namespace stagecraft {

// Throws InputError if the extension of `file`, given as `flag`, is neither .pftrace nor .json.
void CheckTraceFile(const std::string& flag, const std::string& file);

// Writes Chrome's format to a .json file, Perfetto's to any other.
void WriteTraceFile(const std::string& file, const TraceView& view);

}  // namespace stagecraft
