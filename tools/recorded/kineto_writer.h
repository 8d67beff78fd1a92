// Writes a timeline as the JSON of PyTorch's profiler, for the tools that read this format.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// Every task becomes a kernel on each of its lanes, of the class of its ops, or of kPass if it has
// ops of several classes. `import kineto` makes tasks of it with the same times, lanes, ranks and
// tags. Ops and dependencies are not written, as the format has no place for them. Throws
// InputError, which begins with `name`, for a schedule whose ranks stand for several devices.
void WriteKineto(const TimelineRecord& record, const std::string& name, std::ostream& out);

}  // namespace stagecraft
