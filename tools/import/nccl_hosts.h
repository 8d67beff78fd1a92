// The hosts of NCCL's topology XML as the file lists them: GPUs and interfaces, and the PCIe
// switches above them.
#pragma once

#include <string>
#include <vector>

#include "costmodel/device_catalogue.h"
#include "costmodel/units.h"
#include "tools/import/imported_cluster.h"
#include "tools/import/xml_text.h"

namespace stagecraft {

struct NcclGpu {
  pugi::xml_node node;  // its <gpu>, or <pci> if there is none
  std::string bus;
  int dev = 0;
  int at_switch = 0;
  const DeviceEntry* entry = nullptr;
  Bandwidth port;      // zero: not stated
  int generation = 0;  // of PCIe; 0: not stated
};

struct NcclNic {
  int at_switch = 0;
  double megabits = 0;  // per second
};

struct NcclHost {
  std::vector<NcclGpu> gpus;
  std::vector<NcclNic> nics;
  std::vector<int> switch_root;
  std::vector<Bandwidth> uplinks;  // by switch; zero: not stated
  int roots = 0;
};

// In the order in which the file first names them; adds one sentence to `notes` for each thing that
// is left out. Throws InputError for unknown elements and speeds, for GPUs that are none, and for
// bus ids given twice. The document must outlive the hosts.
std::vector<NcclHost> ReadNcclHosts(const pugi::xml_node& system, const XmlSource& source,
                                    const ImportOptions& options, std::vector<std::string>* notes);

}  // namespace stagecraft
