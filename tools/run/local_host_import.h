// import local-host: this host, measured.
#pragma once

#include "tools/import/imported_cluster.h"

namespace stagecraft {

// Measures this host with one process for each CPU core, at least two; takes some seconds. Throws
// InputError if mpirun is missing.
ImportedCluster ImportLocalHost();

}  // namespace stagecraft
