#include "tools/import/imported_gpu.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "sim/cluster/node_catalogue.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

struct PciName {
  const char* vendor;
  const char* device;
  const char* gpu;
};

// From pci.ids (https://pci-ids.ucw.cz), recalled.
constexpr PciName kPciNames[] = {
    {"10de", "15f8", "p100-pcie-16gb"},  {"10de", "15f9", "p100-sxm2-16gb"},
    {"10de", "1db1", "v100-sxm2-16gb"},  {"10de", "1db5", "v100-sxm2-32gb"},
    {"10de", "1db4", "v100-pcie-16gb"},  {"10de", "1db6", "v100-pcie-32gb"},
    {"10de", "1eb8", "t4-16gb"},         {"10de", "2236", "a10-24gb"},
    {"10de", "2237", "a10g-24gb"},       {"10de", "20b0", "a100-sxm4-40gb"},
    {"10de", "20b2", "a100-sxm4-80gb"},  {"10de", "20f1", "a100-pcie-40gb"},
    {"10de", "20b5", "a100-pcie-80gb"},  {"10de", "27b8", "l4-24gb"},
    {"10de", "26b9", "l40s-48gb"},       {"10de", "2330", "h100-sxm5-80gb"},
    {"10de", "2331", "h100-pcie-80gb"},  {"10de", "2321", "h100-nvl-94gb"},
    {"10de", "2335", "h200-sxm5-141gb"}, {"10de", "2901", "b200-sxm-180gb"},
    {"1002", "74a1", "mi300x-192gb"},
};

// The name in lower case, with blanks in place of '-' and '_'.
std::string Folded(const std::string& name) {
  std::string folded;
  for (const char c : name) {
    folded +=
        c == '-' || c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return folded;
}

std::string WithoutPrefix(std::string hex) {
  if (hex.starts_with("0x") || hex.starts_with("0X")) hex.erase(0, 2);
  return Folded(hex);
}

}  // namespace

const DeviceEntry& FindImportedGpu(const std::string& name, const std::string& place) {
  if (const DeviceEntry* entry = DeviceCatalogue::Embedded().Find(name)) return *entry;
  std::vector<std::string> known;
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    known.push_back(entry.device.id);
    known.insert(known.end(), entry.aliases.begin(), entry.aliases.end());
    const auto is_same = [&](const std::string& own) { return Folded(own) == Folded(name); };
    if (is_same(entry.device.id) ||
        std::any_of(entry.aliases.begin(), entry.aliases.end(), is_same))
      return entry;
  }
  throw InputError(place + ": unknown GPU " + Quoted(name) + "; " +
                   NearestNames(name.substr(0, 64), known) + " Or name it with --gpu");
}

const DeviceEntry* FindPciGpu(const std::string& vendor, const std::string& device) {
  for (const PciName& known : kPciNames) {
    if (WithoutPrefix(vendor) == known.vendor && WithoutPrefix(device) == known.device) {
      return DeviceCatalogue::Embedded().Find(known.gpu);
    }
  }
  return nullptr;
}

Bandwidth NvlinkBandwidth(const DeviceEntry& gpu) {
  if (!(gpu.scale_up.bytes_per_s() > 0)) return Bandwidth();
  switch (gpu.device.generation) {
    case Generation::kPascal:
      return Bandwidth(20e9);
    case Generation::kVolta:
    case Generation::kTuring:
    case Generation::kHopper:
      return Bandwidth(25e9);
    case Generation::kAmpere:
      // GA102's four links are slower than GA100's twelve.
      return gpu.scale_up < Bandwidth(100e9) ? 0.25 * gpu.scale_up : Bandwidth(25e9);
    case Generation::kBlackwell:
      return Bandwidth(50e9);
    default:
      return Bandwidth();
  }
}

bool HasSwitchedReference(const DeviceEntry& gpu) {
  const NodeEntry* node = NodeCatalogue::Embedded().Find(gpu.reference_node);
  return node != nullptr && node->type.wiring == Wiring::kSwitched;
}

int PcieGeneration(const DeviceEntry& gpu) {
  return gpu.pcie_generation > 0 ? gpu.pcie_generation : 4;
}

}  // namespace stagecraft
