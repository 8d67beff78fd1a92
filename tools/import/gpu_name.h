// Compares the name that a driver gives a GPU with those of the catalogue.
#pragma once

#include <string>

#include "costmodel/device.h"

namespace stagecraft {

// Whether `printed` ("NVIDIA A100-SXM4-40GB") is clearly another GPU type than `gpu` of the
// catalogue ("h100-sxm5-80gb"): it has the name of another one, or states another form factor, SXM,
// PCIe or NVL. Sizes of memory do not count, nor do names that the catalogue does not have.
bool IsAnotherGpu(const std::string& printed, const std::string& gpu);

// Throws an InputError that begins with `place` if a device of a cluster is clearly neither the GPU
// that is there, which calls itself `printed`, nor a part of it. `multiprocessors` are those of the
// GPU if the device stands for all of it, and 0 if it is a part. What `import` writes for a GPU is
// accepted: the catalogue's numbers under its name. So is a device that the catalogue lacks.
void RequireGpu(const std::string& place, const Device& device, const std::string& printed,
                int multiprocessors);

}  // namespace stagecraft
