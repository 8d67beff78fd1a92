// Foreign names of GPUs, and what the catalogue knows of their links.
#pragma once

#include <string>

#include "costmodel/device_catalogue.h"
#include "costmodel/link.h"

namespace stagecraft {

// The entry that `name` stands for: an id or alias of the catalogue, or one with
// '-' or '_' for blanks, as in the labels of GPU Feature Discovery. Throws
// InputError with the nearest names; `place` opens the sentence.
const DeviceEntry& FindImportedGpu(const std::string& name, const std::string& place);

// The entry of a PCI device ("0x10de", "0x2330"); nullptr for one not listed.
const DeviceEntry* FindPciGpu(const std::string& vendor, const std::string& device);

// One NVLink, one direction, raw; zero for a board without.
Bandwidth NvlinkBandwidth(const DeviceEntry& gpu);

// Every GPU of this kind sits at an NVSwitch on its reference node.
bool HasSwitchedReference(const DeviceEntry& gpu);

// Of the board's 16 lanes; 4, which most servers have, where that is not known.
int PcieGeneration(const DeviceEntry& gpu);

}  // namespace stagecraft
