// A cluster file to fill in for a GPU that the catalogue lacks.
#pragma once

#include <string>

#include "costmodel/device.h"

namespace stagecraft {

// Returns a commented cluster file of two nodes with eight such GPUs each, in the units of
// datasheets; `file` is the name under which the comments show how to use it.
std::string GpuTemplate(const Device& device, const std::string& file);

}  // namespace stagecraft
