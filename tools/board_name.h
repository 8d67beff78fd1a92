// Whether what a driver calls a GPU is one of ours.
#pragma once

#include <string>

namespace stagecraft {

// Whether `printed` ("NVIDIA A100-SXM4-40GB") clearly is another board than the
// catalogue's `gpu` ("h100-sxm5-80gb"): it has the name of another one, or states
// another form, SXM, PCIe or NVL. Sizes of memory do not count, nor names that the
// catalogue does not have.
bool IsAnotherBoard(const std::string& printed, const std::string& gpu);

}  // namespace stagecraft
