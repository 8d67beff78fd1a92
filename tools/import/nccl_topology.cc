#include "tools/import/nccl_topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/link.h"
#include "costmodel/usual_links.h"
#include "tools/import/import_text.h"
#include "tools/import/imported_gpu.h"
#include "tools/import/nccl_hosts.h"
#include "tools/import/observed_node.h"
#include "tools/import/xml_text.h"

namespace stagecraft {
namespace {

constexpr int kMostLinks = 64;

// Renumbers the values in all lists from 0 on, in ascending order; returns the new numbers by the
// old ones.
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

// Drops switches and sockets with neither GPUs nor interfaces below them.
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

// Describes a host as a node.
class NodeObserver {
 public:
  NodeObserver(const XmlSource& source, std::vector<std::string>* notes)
      : source_(source), notes_(notes) {}

  ObservedNode Observe(NcclHost& host) {
    if (host.gpus.empty())
      throw InputError(source_.name + ": got a host without GPUs, want at least one");
    std::stable_sort(host.gpus.begin(), host.gpus.end(),
                     [](const NcclGpu& a, const NcclGpu& b) { return a.dev < b.dev; });
    ObservedNode node;
    node.gpu = host.gpus[0].entry;
    node.gpus = static_cast<int>(host.gpus.size());
    for (size_t g = 0; g < host.gpus.size(); ++g) {
      const NcclGpu& gpu = host.gpus[g];
      if (g > 0 && gpu.dev == host.gpus[g - 1].dev) {
        source_.Fail(gpu.node, "dev",
                     "got " + std::to_string(gpu.dev) + " again, want one of its own");
      }
      if (gpu.entry != node.gpu) {
        source_.Fail(gpu.node, "",
                     "got " + gpu.entry->device.id + " and " + node.gpu->device.id +
                         ", want one GPU type per host");
      }
    }
    ReadNvlinks(host, &node);
    AddTree(host, &node);
    return node;
  }

 private:
  void ReadNvlinks(const NcclHost& host, ObservedNode* node) {
    node->switch_links.assign(node->gpus, 0);
    node->nvlinks.assign(node->gpus, std::vector<int>(node->gpus, 0));
    for (int g = 0; g < node->gpus; ++g) {
      for (const pugi::xml_node& link : host.gpus[g].node.children("nvlink")) {
        const int count = source_.WholeAttribute(link, "count", kMostLinks);
        const std::string_view kind = link.attribute("tclass").value();
        if (kind == "0x068000") {
          node->switch_links[g] += count;
        } else if (kind == "0x068001") {
          notes_->push_back("NVLinks to CPUs are left out");
        } else if (kind.starts_with("0x03")) {
          const int peer = FindPeer(host, link, g);
          node->nvlinks[g][peer] += count;
        } else {
          source_.Fail(link, "tclass",
                       "got " + Quoted(kind) +
                           ", want a GPU (0x03...), an NVSwitch "
                           "(0x068000) or a CPU (0x068001)");
        }
      }
    }
    for (int a = 0; a < node->gpus; ++a) {
      for (int b = 0; b < a; ++b) {
        if (node->nvlinks[a][b] == node->nvlinks[b][a]) continue;
        source_.Fail(host.gpus[a].node, "nvlink",
                     fmt::format("got {} to {} and {} back, want the same number each way",
                                 node->nvlinks[a][b], host.gpus[b].bus, node->nvlinks[b][a]));
      }
    }
  }

  int FindPeer(const NcclHost& host, const pugi::xml_node& link, int from) const {
    const std::string target = link.attribute("target").value();
    for (int g = 0; g < static_cast<int>(host.gpus.size()); ++g) {
      if (host.gpus[g].bus != target) continue;
      if (g == from) source_.Fail(link, "target", "got the GPU itself, want another");
      return g;
    }
    source_.Fail(link, "target",
                 "got " + Quoted(target) + ", want the bus id of a GPU of the host");
  }

  void AddTree(NcclHost& host, ObservedNode* node) {
    const NcclGpu& first = host.gpus[0];
    const int generation = first.generation > 0 ? first.generation : PcieGeneration(*first.entry);
    node->port = {LinkKind::kPcie, kPcieLatency, first.port};
    for (const NcclGpu& gpu : host.gpus)
      node->port.bandwidth = std::min(node->port.bandwidth, gpu.port);
    if (!(node->port.bandwidth.bytes_per_s() > 0)) {
      node->port.bandwidth = PcieBandwidth(generation);
      notes_->push_back(
          fmt::format("PCIe of GPUs is assumed to have 16 lanes of generation {}", generation));
    }
    double most = 0;
    for (const NcclNic& nic : host.nics) most = std::max(most, nic.megabits);
    const size_t all = host.nics.size();
    std::erase_if(host.nics, [&](const NcclNic& nic) { return nic.megabits < most; });
    if (host.nics.size() < all) notes_->push_back("slower network interfaces are left out");
    node->nics = static_cast<int>(host.nics.size());
    node->nic = FromGbit(most / 1000);
    if (node->nics > 0) node->network = host.nics[0].network;
    node->tree.switch_root = host.switch_root;
    for (const NcclGpu& gpu : host.gpus) node->tree.device_switch.push_back(gpu.at_switch);
    for (const NcclNic& nic : host.nics) node->tree.nic_switch.push_back(nic.at_switch);
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
    notes_->push_back(fmt::format("uplinks of PCIe switches differ: {:.4g} to {:.4g} GB/s",
                                  least->bandwidth.bytes_per_s() * 1e-9,
                                  most->bandwidth.bytes_per_s() * 1e-9));
  }

  const XmlSource& source_;
  std::vector<std::string>* const notes_;
};

}  // namespace

ImportedCluster ImportNcclTopology(const std::string& text, const std::string& name,
                                   const ImportOptions& options) {
  pugi::xml_document document;
  ParseXml(text, name, &document);
  const pugi::xml_node system = document.child("system");
  if (!system) throw InputError(name + ": got no <system>, want NCCL's topology XML");
  const XmlSource source{text, name};
  ImportedCluster result;
  int kind = 0;
  ObservedNode last;
  for (NcclHost& host : ReadNcclHosts(system, source, options, &result.notes)) {
    const ObservedNode node = NodeObserver(source, &result.notes).Observe(host);
    if (kind > 0 && node == last) {
      NodeGroupProto* group =
          result.cluster.mutable_node_groups(result.cluster.node_groups_size() - 1);
      group->set_count(group->count() + 1);
      continue;
    }
    NodeGroupProto* group = result.cluster.add_node_groups();
    group->set_count(1);
    *group->mutable_inline_node_type() =
        ToNodeType(node, "host" + std::to_string(kind++), options, name, &result.notes);
    last = node;
  }
  if (kind == 0) throw InputError(name + ": got no <cpu> with GPUs, want at least one");
  return result;
}

}  // namespace stagecraft
