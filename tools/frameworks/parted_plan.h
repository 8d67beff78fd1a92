// Gives the stages of an imported plan their layers.
#pragma once

#include <string>

#include "sim/cluster/cluster.h"
#include "sim/workload/workload.h"
#include "tools/frameworks/imported_training.h"

namespace stagecraft {

// Has the plan say which layers its parts have (ImportedTraining::parts), by degrees if they can
// say it and else by a list of its stages, for which the cluster must be known. Throws InputError
// at the option that says so if there is none, or if the parts are not those of the network.
void PlaceParts(const std::string& file, const Workload& workload, const Cluster* cluster,
                ImportedTraining& training);

}  // namespace stagecraft
