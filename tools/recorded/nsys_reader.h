// Reads the SQLite database that Nsight Systems exports (nsys export --type sqlite).
#pragma once

#include <string>
#include <vector>

#include "tools/recorded/recording.h"

namespace stagecraft {

// Whether the file begins as an SQLite database does.
bool IsSqliteFile(const std::string& path);

// Returns a recording for each process that ran kernels, in order of process ids. Kernels are not
// placed yet (kernel_places.h). Columns that a version of Nsight Systems lacks are not missed, but
// start, end, deviceId, streamId and a name. Throws InputError for a file that is no such database
// or is damaged, and for one without kernels.
std::vector<Recording> ReadNsys(const std::string& path);

}  // namespace stagecraft
