// Traces as files: the extension decides the format.
#pragma once

#include <string>

#include "tools/trace/trace_view.h"

namespace stagecraft {

// Throws InputError if `file`, given as `flag`, is neither .pftrace nor .json.
void CheckTraceFile(const std::string& flag, const std::string& file);

// Writes Perfetto's format, or Chrome's for .json.
void WriteTraceFile(const std::string& file, const TraceView& view);

}  // namespace stagecraft
