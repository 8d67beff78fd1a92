// Traces as files: the extension says in which form.
#pragma once

#include <string>

#include "tools/trace/trace_view.h"

namespace stagecraft {

// Throws InputError where `file` of `flag` is no .pftrace and no .json.
void CheckTraceFile(const std::string& flag, const std::string& file);

// Perfetto's form, or Chrome's for .json.
void WriteTraceFile(const std::string& file, const TraceView& view);

}  // namespace stagecraft
