// The links of a fabric as words in one field of a table:
//   "nvlink 300000000000 B/s 600 ns + network 200000000000 B/s 2000 ns + nvls"
// The first link is Fabric::intra, the second, if any, Fabric::inter. What is
// written is read back without loss.
#pragma once

#include <string>
#include <string_view>

#include "costmodel/link.h"

namespace stagecraft {

// `inter` only where there are several nodes.
std::string FabricWords(const Fabric& fabric);

// Whether these words state links; the shared table has names of generations
// ("NVLink3/NVSwitch + 25GbE") instead.
bool IsFabricWords(std::string_view words);

// Links and nvls; the ranks are the caller's, and so is that several nodes need
// two links. Throws InputError, which `place` opens: "c.csv:3: fabric: got
// "nvlink 3", want KIND NUMBER B/s NUMBER ns".
Fabric ParseFabricWords(std::string_view words, const std::string& place);

}  // namespace stagecraft
