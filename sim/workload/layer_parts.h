// Layers of a network by number and by the name of a part.
#pragma once

#include <string>
#include <vector>

#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the names of parts of a network: roles ("embedding", "blocks", "head"), and kinds of
// layers without the number that tells them apart ("down" for "down" and "down_2").
std::vector<std::string> PartNames(const Workload& workload);

// Returns the layers of the part of that name, ascending; none if there is no such part.
std::vector<int> FindPart(const Workload& workload, const std::string& name);

// Returns whether each layer is among `parts`, which are separated by commas: ranges of layers,
// "0-11" or "3" (the embedding is layer 0), or names of parts. Throws InputError, which begins with
// `key`, for anything else.
std::vector<bool> LayersOfParts(const std::string& key, const std::string& parts,
                                const Workload& workload);

}  // namespace stagecraft
