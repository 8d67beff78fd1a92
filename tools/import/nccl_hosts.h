// The hosts of NCCL's topology XML as the file lists them: GPUs and interfaces, and the
// PCIe switches that they are below.
#pragma once

#include <string>
#include <vector>

#include "costmodel/device_catalogue.h"
#include "costmodel/units.h"
#include "tools/import/imported_cluster.h"
#include "tools/import/xml_text.h"

namespace stagecraft {

struct NcclGpu {
  pugi::xml_node node;  // its <gpu>, or <pci> where there is none
  std::string bus;
  int dev = 0;
  int at_switch = 0;
  const DeviceEntry* entry = nullptr;
  Bandwidth port;      // zero: not stated
  int generation = 0;  // of PCIe; 0: not stated
};

struct NcclNic {
  int at_switch = 0;
  double megabits = 0;  // a second
};

struct NcclHost {
  std::vector<NcclGpu> gpus;
  std::vector<NcclNic> nics;
  std::vector<int> switch_root;
  std::vector<Bandwidth> uplinks;  // by switch; zero: not stated
  int roots = 0;
};

// In the order in which the file first names them; one sentence for each thing left out is
// added to `notes`. Throws InputError for elements and speeds that are not known, GPUs
// that are not, and bus ids given twice. The document must outlive the hosts.
std::vector<NcclHost> ReadNcclHosts(const pugi::xml_node& system, const XmlSource& source,
                                    const ImportOptions& options, std::vector<std::string>* notes);

}  // namespace stagecraft
