// Names that other tools use for GPUs, and what the catalogue knows about their links.
#pragma once

#include <string>

#include "costmodel/device_catalogue.h"
#include "costmodel/link.h"

namespace stagecraft {

// The entry for which `name` stands: an id or alias of the catalogue, or one with '-' or '_' in
// place of blanks, as in the labels of GPU Feature Discovery. Throws an InputError with the nearest
// names; `place` opens the sentence.
const DeviceEntry& FindImportedGpu(const std::string& name, const std::string& place);

// The entry of a PCI device ("0x10de", "0x2330"); nullptr for one that is not listed.
const DeviceEntry* FindPciGpu(const std::string& vendor, const std::string& device);

// The rate of one NVLink, one direction, raw; zero for a GPU without NVLink.
Bandwidth NvlinkBandwidth(const DeviceEntry& gpu);

// Whether every GPU of this type is connected to an NVSwitch on its reference node.
bool HasSwitchedReference(const DeviceEntry& gpu);

// The generation of the GPU's 16 lanes; 4, as in most servers, if it is not known.
int PcieGeneration(const DeviceEntry& gpu);

}  // namespace stagecraft
