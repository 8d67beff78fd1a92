// NcclHost: a host of NCCL's topology XML as the file describes it, with its GPUs, its network
// interfaces and the PCIe switches above them.
#pragma once

#include <string>
#include <vector>

#include "costmodel/device_catalogue.h"
#include "costmodel/network_kind.h"
#include "costmodel/units.h"
#include "tools/import/imported_cluster.h"
#include "tools/import/xml_text.h"

namespace stagecraft {

struct NcclGpu {
  pugi::xml_node node;  // its <gpu>, or its <pci> if it has none
  std::string bus;      // PCI bus id
  int dev = 0;          // its number on the host
  int at_switch = 0;    // index into NcclHost::switch_root
  const DeviceEntry* entry = nullptr;
  Bandwidth port;      // zero: not stated
  int generation = 0;  // of PCIe; 0: not stated
};

struct NcclNic {
  int at_switch = 0;
  double megabits = 0;  // per second
  NetworkKind network = NetworkKind::kUnstated;
};

struct NcclHost {
  std::vector<NcclGpu> gpus;
  std::vector<NcclNic> nics;
  std::vector<int> switch_root;    // by switch: its root complex
  std::vector<Bandwidth> uplinks;  // by switch; zero: not stated
  int roots = 0;
};

// Returns the hosts in the order in which the file first names them, and adds a sentence to `notes`
// for each thing that is left out. Throws InputError for unknown elements, speeds and GPUs, and for
// bus ids given twice. The document must outlive the hosts.
std::vector<NcclHost> ReadNcclHosts(const pugi::xml_node& system, const XmlSource& source,
                                    const ImportOptions& options, std::vector<std::string>* notes);

}  // namespace stagecraft
