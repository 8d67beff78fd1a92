// The links of a fabric as words in one field of a table:
//
//   "nvlink 300000000000 B/s 600 ns + infiniband 200000000000 B/s 2000 ns + nvls"
//
// The first link is Fabric::intra, the second, if any, Fabric::inter. A fabric that is written and
// read again loses nothing. The word of a network is its kind, or "network" if that is not stated.
#pragma once

#include <string>
#include <string_view>

#include "costmodel/link.h"

namespace stagecraft {

// Returns the words of a fabric, which contain `inter` only if there are several nodes.
std::string FabricWords(const Fabric& fabric);

// Whether these words state links; the shared table has names of generations ("NVLink3/NVSwitch +
// 25GbE") instead.
bool IsFabricWords(std::string_view words);

// Reads links and nvls. The ranks are left to the caller, as is the check that several nodes need
// two links. Throws an InputError that begins with `place`: "c.csv:3: fabric: got "nvlink 3", want
// KIND NUMBER B/s NUMBER ns".
Fabric ParseFabricWords(std::string_view words, const std::string& place);

}  // namespace stagecraft
