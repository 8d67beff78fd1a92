// Compares the name that a driver gives a GPU with those of the catalogue.
#pragma once

#include <string>

#include "costmodel/device.h"

namespace stagecraft {

// Returns whether `printed` ("NVIDIA A100-SXM4-40GB") is clearly another GPU type than `gpu` of the
// catalogue ("h100-sxm5-80gb"): it has the name of another one, or states another form factor, SXM,
// PCIe or NVL. Memory sizes do not count, and a name that the catalogue lacks proves nothing.
bool IsAnotherGpu(const std::string& printed, const std::string& gpu);

// Throws an InputError that begins with `place` if a device of a cluster is clearly neither the
// installed GPU, which calls itself `printed`, nor a part of it. `multiprocessors` are those of the
// GPU if the device stands for all of it, and 0 if it stands for a part. What `import` writes for a
// GPU is accepted: the catalogue's numbers under its name. So is a device that the catalogue lacks,
// unless its number of multiprocessors is another.
void RequireGpu(const std::string& place, const Device& device, const std::string& printed,
                int multiprocessors);

}  // namespace stagecraft
