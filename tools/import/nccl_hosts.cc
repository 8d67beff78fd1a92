#include "tools/import/nccl_hosts.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "costmodel/usual_links.h"
#include "sim/cluster/node_type.h"
#include "tools/import/import_text.h"
#include "tools/import/imported_gpu.h"

namespace stagecraft {
namespace {

struct PciSpeed {
  std::string_view text;  // the number of "32.0 GT/s PCIe"
  int generation;
};
constexpr PciSpeed kPciSpeeds[] = {{"2.5", 1},  {"5", 2},  {"5.0", 2},  {"8", 3},
                                   {"8.0", 3},  {"16", 4}, {"16.0", 4}, {"32", 5},
                                   {"32.0", 5}, {"64", 6}, {"64.0", 6}};

// Returns the kind of network that the name of an interface tells; those of NVIDIA's interfaces
// ("mlx5_0") are the same for InfiniBand and RoCE.
NetworkKind NetworkOfInterface(std::string_view name) {
  constexpr std::pair<std::string_view, NetworkKind> kPrefixes[] = {
      {"rdmap", NetworkKind::kEfa},     {"efa", NetworkKind::kEfa},
      {"cxi", NetworkKind::kSlingshot}, {"hsn", NetworkKind::kSlingshot},
      {"hfi1", NetworkKind::kOmniPath}, {"ib", NetworkKind::kInfiniband},
      {"eth", NetworkKind::kEthernet},  {"en", NetworkKind::kEthernet},
      {"bond", NetworkKind::kEthernet},
  };
  for (const auto& [prefix, kind] : kPrefixes) {
    if (name.starts_with(prefix)) return kind;
  }
  return NetworkKind::kUnstated;
}

class HostReader {
 public:
  HostReader(const XmlSource& source, const ImportOptions& options, std::vector<std::string>* notes)
      : source_(source), options_(options), notes_(notes) {}

  std::vector<NcclHost> Read(const pugi::xml_node& system) {
    for (const pugi::xml_node& cpu : system.children("cpu")) ReadCpu(cpu);
    return std::move(hosts_);
  }

 private:
  void ReadCpu(const pugi::xml_node& cpu) {
    const std::string hash = cpu.attribute("host_hash").value();
    const auto [known, is_new] = index_.emplace(hash, hosts_.size());
    if (is_new) hosts_.emplace_back();
    current_ = known->second;
    NcclHost& host = hosts_[current_];
    const int root = host.roots++;
    for (const pugi::xml_node& child : cpu.children()) {
      const std::string_view kind = child.name();
      if (kind == "pci") {
        const int at = static_cast<int>(host.switch_root.size());
        host.switch_root.push_back(root);
        host.uplinks.push_back(PciBandwidth(child).bandwidth);
        ReadPci(child, at, host);
      } else if (kind == "nic") {
        notes_->push_back("network interfaces that are on no PCIe bus are left out");
      } else {
        source_.Fail(child, "", "got this inside of <cpu>, want <pci> or <nic>");
      }
    }
  }

  // The raw bandwidth of a device's PCIe lanes in one direction; zeros if the file does not say.
  struct PciPort {
    Bandwidth bandwidth;
    int generation = 0;
  };
  PciPort PciBandwidth(const pugi::xml_node& pci) const {
    const std::string speed = pci.attribute("link_speed").value();
    const std::string width = pci.attribute("link_width").value();
    if (speed.empty() && width.empty()) return {};
    const std::string number = speed.substr(0, speed.find(' '));
    for (const PciSpeed& known : kPciSpeeds) {
      if (number != known.text) continue;
      const int lanes = static_cast<int>(ParseWhole(width, 0, 32, source_.At(pci) + " link_width"));
      return {(lanes == 0 ? 1.0 : lanes / 16.0) * PcieBandwidth(known.generation),
              known.generation};
    }
    if (speed.empty() || number == "Unknown") return {};
    source_.Fail(pci, "link_speed",
                 "got " + Quoted(speed) + ", want one of PCIe: \"32.0 GT/s PCIe\"");
  }

  void ReadPci(const pugi::xml_node& pci, int at_switch, NcclHost& host) {
    const std::string bus = pci.attribute("busid").value();
    if (bus.empty()) source_.Fail(pci, "busid", "got none, want a bus id");
    if (!buses_.insert({current_, bus}).second) {
      source_.Fail(pci, "busid",
                   "got " + Quoted(bus) + " again, want one that no other element has");
    }
    const std::string_view pci_class = pci.attribute("class").value();
    const pugi::xml_node gpu = pci.child("gpu");
    if (gpu || pci_class.starts_with("0x03")) {
      AddGpu(pci, gpu, at_switch, host);
      return;
    }
    for (const pugi::xml_node& child : pci.children()) {
      const std::string_view kind = child.name();
      if (kind == "pci") {
        ReadPci(child, at_switch, host);
      } else if (kind == "nic") {
        for (const pugi::xml_node& net : child.children("net")) AddNet(net, at_switch, host);
      } else if (kind != "nvlink" && kind != "pcilink") {
        source_.Fail(child, "", "got this inside of <pci>, want <pci>, <gpu> or <nic>");
      }
    }
    if (pci_class.starts_with("0x02") && !pci.child("nic")) {
      notes_->push_back("PCI device " + bus +
                        " is a network interface of no stated speed: left out");
    }
  }

  void AddGpu(const pugi::xml_node& pci, const pugi::xml_node& node, int at_switch,
              NcclHost& host) {
    NcclGpu gpu;
    gpu.node = node ? node : pci;
    gpu.bus = pci.attribute("busid").value();
    gpu.at_switch = at_switch;
    gpu.dev =
        node ? source_.WholeAttribute(node, "dev", 1 << 16) : static_cast<int>(host.gpus.size());
    const PciPort port = PciBandwidth(pci);
    gpu.port = port.bandwidth;
    gpu.generation = port.generation;
    const std::string vendor = pci.attribute("vendor").value();
    const std::string device = pci.attribute("device").value();
    gpu.entry =
        options_.gpu.empty() ? FindPciGpu(vendor, device) : &FindImportedGpu(options_.gpu, "--gpu");
    if (gpu.entry == nullptr) {
      source_.Fail(pci, "device",
                   "got " + Quoted(vendor + " " + device) +
                       ", want a GPU whose PCI id is known, or --gpu to name it");
    }
    if (!node) notes_->push_back("GPU " + gpu.bus + " has no <gpu>: its NVLinks are not known");
    if (std::ssize(host.gpus) == kMaxDevicesPerNode) {
      source_.Fail(
          pci, "",
          "got more than " + std::to_string(kMaxDevicesPerNode) + " GPUs on a host, want fewer");
    }
    host.gpus.push_back(std::move(gpu));
  }

  void AddNet(const pugi::xml_node& net, int at_switch, NcclHost& host) {
    const int megabits = source_.WholeAttribute(net, "speed", 100'000'000);
    if (megabits == 0) source_.Fail(net, "speed", "got 0, want Mbit/s");
    host.nics.push_back({at_switch, static_cast<double>(megabits),
                         NetworkOfInterface(net.attribute("name").value())});
  }

  const XmlSource& source_;
  const ImportOptions& options_;
  std::vector<std::string>* const notes_;
  std::vector<NcclHost> hosts_;
  std::map<std::string, size_t> index_;             // into hosts_, by host_hash
  size_t current_ = 0;                              // index of the host that is being read
  std::set<std::pair<size_t, std::string>> buses_;  // pairs of a host's index and a bus id
};

}  // namespace

std::vector<NcclHost> ReadNcclHosts(const pugi::xml_node& system, const XmlSource& source,
                                    const ImportOptions& options, std::vector<std::string>* notes) {
  return HostReader(source, options, notes).Read(system);
}

}  // namespace stagecraft
