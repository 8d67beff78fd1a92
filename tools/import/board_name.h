// Whether what a driver calls a GPU is one of ours.
#pragma once

#include <string>

#include "costmodel/device.h"

namespace stagecraft {

// Whether `printed` ("NVIDIA A100-SXM4-40GB") clearly is another board than the
// catalogue's `gpu` ("h100-sxm5-80gb"): it has the name of another one, or states
// another form, SXM, PCIe or NVL. Sizes of memory do not count, nor names that the
// catalogue does not have.
bool IsAnotherBoard(const std::string& printed, const std::string& gpu);

// Throws InputError, `place` first, where a device of a cluster clearly is not the board that is
// there, which calls itself `printed`, nor a part of it. `multiprocessors` are the board's where
// the device stands for all of it, and 0 where it is a part. What `import` writes of a board passes
// for it: the catalogue's numbers under its name. So does a device that the catalogue lacks.
void RequireBoard(const std::string& place, const Device& device, const std::string& printed,
                  int multiprocessors);

}  // namespace stagecraft
