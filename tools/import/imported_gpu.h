// Finds GPU types by the names that other tools use, and what the catalogue knows about their
// links.
#pragma once

#include <string>

#include "costmodel/device_catalogue.h"
#include "costmodel/link.h"

namespace stagecraft {

// Returns the entry for which `name` stands: an id or alias of the catalogue, or one with '-' or
// '_' in place of blanks, as in the labels of GPU Feature Discovery. Throws an InputError that
// begins with `place` and has the nearest names.
const DeviceEntry& FindImportedGpu(const std::string& name, const std::string& place);

// Returns the entry of a PCI device ("0x10de", "0x2330"); nullptr for one that is not listed.
const DeviceEntry* FindPciGpu(const std::string& vendor, const std::string& device);

// Returns the raw rate of one NVLink in one direction; zero for a GPU without NVLink.
Bandwidth NvlinkBandwidth(const DeviceEntry& gpu);

// Returns whether NVSwitches connect the GPUs of this type's reference node.
bool HasSwitchedReference(const DeviceEntry& gpu);

// Returns the generation of the GPU's 16 PCIe lanes; 4, as in most servers, if it is not known.
int PcieGeneration(const DeviceEntry& gpu);

}  // namespace stagecraft
