// import local-host: this host, measured.
#pragma once

#include "tools/import/imported_cluster.h"

namespace stagecraft {

// By a process a processor, two at least; takes some seconds. Throws InputError where
// mpirun is missing.
ImportedCluster ImportLocalHost();

}  // namespace stagecraft
