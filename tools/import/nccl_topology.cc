#include "tools/import/nccl_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/link.h"
#include "sim/node_type.h"
#include "sim/usual_links.h"
#include "tools/import/import_text.h"
#include "tools/import/imported_gpu.h"
#include "tools/import/observed_node.h"
#include "tools/import/xml_text.h"

namespace stagecraft {
namespace {

constexpr int kMostLinks = 64;

struct PciSpeed {
  std::string_view text;  // the number of "32.0 GT/s PCIe"
  int generation;
};
constexpr PciSpeed kPciSpeeds[] = {{"2.5", 1},  {"5", 2},  {"5.0", 2},  {"8", 3},
                                   {"8.0", 3},  {"16", 4}, {"16.0", 4}, {"32", 5},
                                   {"32.0", 5}, {"64", 6}, {"64.0", 6}};

struct Gpu {
  pugi::xml_node node;  // its <gpu>, or <pci> where there is none
  std::string bus;
  int dev = 0;
  int at_switch = 0;
  const DeviceEntry* entry = nullptr;
  Bandwidth port;
  int generation = 0;
};
struct Nic {
  int at_switch = 0;
  double megabits = 0;
};
struct Host {
  std::vector<Gpu> gpus;
  std::vector<Nic> nics;
  std::vector<int> switch_root;
  std::vector<Bandwidth> uplinks;  // by switch; zero: not stated
  int roots = 0;
};

// Numbers what occurs in the lists anew, in order from 0; by the old numbers.
std::map<int, int> Renumber(std::initializer_list<std::vector<int>*> lists) {
  std::map<int, int> numbers;
  for (const std::vector<int>* list : lists) {
    for (const int old : *list) numbers.emplace(old, 0);
  }
  int next = 0;
  for (auto& [old, number] : numbers) number = next++;
  for (std::vector<int>* list : lists) {
    for (int& number : *list) number = numbers.at(number);
  }
  return numbers;
}

// Switches and sockets with neither GPUs nor interfaces below them play no part.
void DropIdleParts(PcieTree* tree) {
  std::vector<int> switch_root;
  std::vector<Link> uplinks;
  for (const auto& [old, number] : Renumber({&tree->device_switch, &tree->nic_switch})) {
    switch_root.push_back(tree->switch_root[old]);
    uplinks.push_back(tree->uplinks[old]);
  }
  tree->switch_root = std::move(switch_root);
  tree->uplinks = std::move(uplinks);
  tree->roots = static_cast<int>(Renumber({&tree->switch_root}).size());
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& name, const ImportOptions& options)
      : text_(text), name_(name), options_(options) {}

  ImportedCluster Read() {
    pugi::xml_document document;
    ParseXml(text_, name_, &document);
    const pugi::xml_node system = document.child("system");
    if (!system) throw InputError(name_ + ": got no <system>, want NCCL's topology XML");
    for (const pugi::xml_node& cpu : system.children("cpu")) ReadCpu(cpu);
    ImportedCluster result;
    int kind = 0;
    ObservedNode last;
    for (const std::string& hash : host_order_) {
      const ObservedNode node = Observe(hosts_.at(hash));
      if (kind > 0 && node == last) {
        NodeGroupProto* group =
            result.cluster.mutable_node_groups(result.cluster.node_groups_size() - 1);
        group->set_count(group->count() + 1);
        continue;
      }
      NodeGroupProto* group = result.cluster.add_node_groups();
      group->set_count(1);
      *group->mutable_inline_node_type() =
          ToNodeType(node, "host" + std::to_string(kind++), options_, name_, &notes_);
      last = node;
    }
    if (kind == 0) throw InputError(name_ + ": got no <cpu> with GPUs, want at least one");
    result.notes = std::move(notes_);
    return result;
  }

 private:
  [[noreturn]] void Fail(const pugi::xml_node& node, const std::string& key,
                         const std::string& rest) const {
    throw InputError(AtElement(text_, name_, node) + (key.empty() ? "" : " " + key) + ": " + rest);
  }

  int WholeAttribute(const pugi::xml_node& node, const char* key, int most) const {
    return static_cast<int>(ParseWhole(node.attribute(key).value(), 0, most,
                                       AtElement(text_, name_, node) + " " + key));
  }

  void ReadCpu(const pugi::xml_node& cpu) {
    const std::string hash = cpu.attribute("host_hash").value();
    if (!hosts_.contains(hash)) host_order_.push_back(hash);
    current_host_ = hash;
    Host& host = hosts_[hash];
    const int root = host.roots++;
    for (const pugi::xml_node& child : cpu.children()) {
      const std::string_view kind = child.name();
      if (kind == "pci") {
        const int at = static_cast<int>(host.switch_root.size());
        host.switch_root.push_back(root);
        host.uplinks.push_back(PciBandwidth(child).bandwidth);
        ReadPci(child, at, host);
      } else if (kind == "nic") {
        notes_.push_back("network interfaces that are on no PCIe bus are left out");
      } else {
        Fail(child, "", "got this inside of <cpu>, want <pci> or <nic>");
      }
    }
  }

  // What the lanes carry, raw, one direction; zeros where the file does not say.
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
      const int lanes =
          static_cast<int>(ParseWhole(width, 0, 32, AtElement(text_, name_, pci) + " link_width"));
      return {(lanes == 0 ? 1.0 : lanes / 16.0) * PcieBandwidth(known.generation),
              known.generation};
    }
    if (speed.empty() || number == "Unknown") return {};
    Fail(pci, "link_speed", "got " + Quoted(speed) + ", want one of PCIe: \"32.0 GT/s PCIe\"");
  }

  void ReadPci(const pugi::xml_node& pci, int at_switch, Host& host) {
    const std::string bus = pci.attribute("busid").value();
    if (bus.empty()) Fail(pci, "busid", "got none, want a bus id");
    if (!buses_.insert({current_host_, bus}).second) {
      Fail(pci, "busid", "got " + Quoted(bus) + " again, want one that no other element has");
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
        Fail(child, "", "got this inside of <pci>, want <pci>, <gpu> or <nic>");
      }
    }
    if (pci_class.starts_with("0x02") && !pci.child("nic")) {
      notes_.push_back("PCI device " + bus +
                       " is a network interface of no stated speed: left out");
    }
  }

  void AddGpu(const pugi::xml_node& pci, const pugi::xml_node& node, int at_switch, Host& host) {
    Gpu gpu;
    gpu.node = node ? node : pci;
    gpu.bus = pci.attribute("busid").value();
    gpu.at_switch = at_switch;
    gpu.dev = node ? WholeAttribute(node, "dev", 1 << 16) : static_cast<int>(host.gpus.size());
    const PciPort port = PciBandwidth(pci);
    gpu.port = port.bandwidth;
    gpu.generation = port.generation;
    const std::string vendor = pci.attribute("vendor").value();
    const std::string device = pci.attribute("device").value();
    gpu.entry =
        options_.gpu.empty() ? FindPciGpu(vendor, device) : &FindImportedGpu(options_.gpu, "--gpu");
    if (gpu.entry == nullptr) {
      Fail(pci, "device",
           "got " + Quoted(vendor + " " + device) +
               ", want a GPU whose PCI id is known, or --gpu to name it");
    }
    if (!node) notes_.push_back("GPU " + gpu.bus + " has no <gpu>: its NVLinks are not known");
    if (std::ssize(host.gpus) == kMaxDevicesPerNode) {
      Fail(pci, "",
           "got more than " + std::to_string(kMaxDevicesPerNode) + " GPUs on a host, want fewer");
    }
    host.gpus.push_back(std::move(gpu));
  }

  void AddNet(const pugi::xml_node& net, int at_switch, Host& host) {
    const int megabits = WholeAttribute(net, "speed", 100'000'000);
    if (megabits == 0) Fail(net, "speed", "got 0, want Mbit/s");
    host.nics.push_back({at_switch, static_cast<double>(megabits)});
  }

  ObservedNode Observe(Host& host) {
    if (host.gpus.empty()) throw InputError(name_ + ": got a host without GPUs, want at least one");
    std::stable_sort(host.gpus.begin(), host.gpus.end(),
                     [](const Gpu& a, const Gpu& b) { return a.dev < b.dev; });
    ObservedNode node;
    node.gpu = host.gpus[0].entry;
    node.gpus = static_cast<int>(host.gpus.size());
    for (size_t g = 0; g < host.gpus.size(); ++g) {
      const Gpu& gpu = host.gpus[g];
      if (g > 0 && gpu.dev == host.gpus[g - 1].dev) {
        Fail(gpu.node, "dev", "got " + std::to_string(gpu.dev) + " again, want one of its own");
      }
      if (gpu.entry != node.gpu) {
        Fail(gpu.node, "",
             "got " + gpu.entry->device.id + " beside " + node.gpu->device.id +
                 ", want one kind of GPU a host");
      }
    }
    ReadNvlinks(host, &node);
    AddTree(host, &node);
    return node;
  }

  void ReadNvlinks(const Host& host, ObservedNode* node) {
    node->switch_links.assign(node->gpus, 0);
    node->nvlinks.assign(node->gpus, std::vector<int>(node->gpus, 0));
    for (int g = 0; g < node->gpus; ++g) {
      for (const pugi::xml_node& link : host.gpus[g].node.children("nvlink")) {
        const int count = WholeAttribute(link, "count", kMostLinks);
        const std::string_view kind = link.attribute("tclass").value();
        if (kind == "0x068000") {
          node->switch_links[g] += count;
        } else if (kind == "0x068001") {
          notes_.push_back("NVLinks to CPUs are left out");
        } else if (kind.starts_with("0x03")) {
          const int peer = FindPeer(host, link, g);
          node->nvlinks[g][peer] += count;
        } else {
          Fail(link, "tclass",
               "got " + Quoted(kind) +
                   ", want a GPU (0x03...), an NVSwitch "
                   "(0x068000) or a CPU (0x068001)");
        }
      }
    }
    for (int a = 0; a < node->gpus; ++a) {
      for (int b = 0; b < a; ++b) {
        if (node->nvlinks[a][b] == node->nvlinks[b][a]) continue;
        Fail(host.gpus[a].node, "nvlink",
             fmt::format("got {} to {} and {} back, want as many each way", node->nvlinks[a][b],
                         host.gpus[b].bus, node->nvlinks[b][a]));
      }
    }
  }

  int FindPeer(const Host& host, const pugi::xml_node& link, int from) const {
    const std::string target = link.attribute("target").value();
    for (int g = 0; g < static_cast<int>(host.gpus.size()); ++g) {
      if (host.gpus[g].bus != target) continue;
      if (g == from) Fail(link, "target", "got the GPU itself, want another");
      return g;
    }
    Fail(link, "target", "got " + Quoted(target) + ", want the bus id of a GPU of the host");
  }

  void AddTree(Host& host, ObservedNode* node) {
    const Gpu& first = host.gpus[0];
    const int generation = first.generation > 0 ? first.generation : PcieGeneration(*first.entry);
    node->port = {LinkKind::kPcie, kPcieLatency, first.port};
    for (const Gpu& gpu : host.gpus)
      node->port.bandwidth = std::min(node->port.bandwidth, gpu.port);
    if (!(node->port.bandwidth.bytes_per_s() > 0)) {
      node->port.bandwidth = PcieBandwidth(generation);
      notes_.push_back(
          fmt::format("PCIe of GPUs is taken as 16 lanes of generation {}", generation));
    }
    double most = 0;
    for (const Nic& nic : host.nics) most = std::max(most, nic.megabits);
    const size_t all = host.nics.size();
    std::erase_if(host.nics, [&](const Nic& nic) { return nic.megabits < most; });
    if (host.nics.size() < all) notes_.push_back("slower network interfaces are left out");
    node->nics = static_cast<int>(host.nics.size());
    node->nic = FromGbit(most / 1000);
    node->tree.switch_root = host.switch_root;
    for (const Gpu& gpu : host.gpus) node->tree.device_switch.push_back(gpu.at_switch);
    for (const Nic& nic : host.nics) node->tree.nic_switch.push_back(nic.at_switch);
    for (const Bandwidth uplink : host.uplinks) {
      const bool is_stated = uplink.bytes_per_s() > 0;
      node->tree.uplinks.push_back(
          {LinkKind::kPcie, Duration(), is_stated ? uplink : node->port.bandwidth});
    }
    DropIdleParts(&node->tree);
    if (node->tree.roots > 1) node->tree.root_link = RootLink(generation);
    NoteUnlikeUplinks(node->tree.uplinks);
  }

  void NoteUnlikeUplinks(const std::vector<Link>& uplinks) {
    const auto [least, most] =
        std::minmax_element(uplinks.begin(), uplinks.end(),
                            [](const Link& a, const Link& b) { return a.bandwidth < b.bandwidth; });
    if (!(least->bandwidth < most->bandwidth)) return;
    notes_.push_back(fmt::format("uplinks of PCIe switches differ: {:.4g} to {:.4g} GB/s",
                                 least->bandwidth.bytes_per_s() * 1e-9,
                                 most->bandwidth.bytes_per_s() * 1e-9));
  }

  const std::string& text_;
  const std::string& name_;
  const ImportOptions& options_;
  std::map<std::string, Host> hosts_;
  std::vector<std::string> host_order_;
  std::string current_host_;
  std::set<std::pair<std::string, std::string>> buses_;
  std::vector<std::string> notes_;
};

}  // namespace

ImportedCluster ImportNcclTopology(const std::string& text, const std::string& name,
                                   const ImportOptions& options) {
  return Reader(text, name, options).Read();
}

}  // namespace stagecraft
