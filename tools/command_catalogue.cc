// catalogue: the GPUs, nodes, models and stacks that names stand for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/board_power.h"
#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/nearest.h"
#include "costmodel/proto_file.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/node_catalogue.h"
#include "sim/workload/networks/classics.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/gpu_template.h"
#include "tools/report/catalogue_listing.h"
#include "tools/report/node_links.h"
#include "tools/stacks/stack_table.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

std::string GpuNames(const Json& row) {
  const std::string node = row["reference_node"].get<std::string>();
  const Args aliases = row["aliases"].get<Args>();
  Args parts;
  if (!node.empty()) parts.push_back("node " + node);
  if (!row["usable_memory_source"].get<std::string>().empty()) {
    const double usable = row["usable_memory_bytes"].get<double>();
    parts.push_back(fmt::format("{:.5g} GB usable", usable * 1e-9));
  }
  if (!aliases.empty()) parts.push_back(fmt::format("also called {}", fmt::join(aliases, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

Listing ListGpus() {
  Listing list;
  list.columns = {{"id", "id"},
                  {"multiprocessors", "SMs"},
                  {"fp32_flop_per_s", "fp32\nTFLOP/s", 1e12},
                  {"tf32_flop_per_s", "tf32\nTFLOP/s", 1e12},
                  {"fp16_flop_per_s", "fp16\nTFLOP/s", 1e12},
                  {"bf16_flop_per_s", "bf16\nTFLOP/s", 1e12},
                  {"fp8_flop_per_s", "fp8\nTFLOP/s", 1e12},
                  {"nvfp4_flop_per_s", "nvfp4\nTFLOP/s", 1e12},
                  {"memory_bytes", "memory\nGB", 1e9},
                  {"memory_bandwidth_bytes_per_s", "memory\nGB/s", 1e9},
                  {"power_w", "board\nW"},
                  {"sustained_fraction", "best\nGEMM"},
                  {"sustained_clock", "sustained\nclock"}};
  list.below = GpuNames;
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    const Device& device = entry.device;
    Json row = {
        {"id", device.id}, {"name", device.name}, {"multiprocessors", device.multiprocessors}};
    for (int dtype = 0; dtype < kDTypeCount; ++dtype) {
      const DType type = static_cast<DType>(dtype);
      row[fmt::format("{}_flop_per_s", Name(type))] = device.Peak(type).flop_per_s();
    }
    row["memory_bytes"] = device.memory.count();
    row["usable_memory_bytes"] = entry.usable_memory.count();
    row["usable_memory_source"] = entry.usable_memory_source;
    row["memory_bandwidth_bytes_per_s"] = device.memory_bandwidth.bytes_per_s();
    row["memory_kind"] = Name(device.memory_kind);
    row["power_w"] = device.power_w;
    row["sustained_fraction"] = std::round(SustainedFraction(device) * 1e4) / 1e4;
    row["sustained_clock"] = std::round(SustainedClock(device) * 1e4) / 1e4;
    row["reference_node"] = entry.reference_node;
    row["aliases"] = entry.aliases;
    list.rows.push_back(std::move(row));
  }
  return list;
}

Listing ListNodes() {
  Listing list;
  list.columns = {{"id", "id"},
                  {"gpu", "GPU"},
                  {"gpus", "GPUs"},
                  {"wiring", "wiring"},
                  {"intra_bandwidth_bytes_per_s", "inside\nGB/s", 1e9},
                  {"nics", "NICs"},
                  {"nic_bits_per_s", "NIC\nGbit/s", 1e9},
                  {"network", "network"}};
  for (const NodeEntry& entry : NodeCatalogue::Embedded().entries()) {
    const NodeType& type = entry.type;
    list.rows.push_back({{"id", type.id},
                         {"gpu", type.device.id},
                         {"gpus", type.devices},
                         {"wiring", Name(type.wiring)},
                         {"intra_bandwidth_bytes_per_s", type.intra.bandwidth.bytes_per_s()},
                         {"nics", type.nics},
                         {"nic_bits_per_s", type.nic.bandwidth.bytes_per_s() * 8},
                         {"network", Name(type.nic.network)},
                         {"name", entry.name}});
  }
  return list;
}

Listing ListModels() {
  Listing list;
  list.columns = {{"name", "name"},
                  {"parameters", "parameters (1e9)", 1e9},
                  {"layers", "layers"},
                  {"hidden", "hidden"},
                  {"heads", "heads"},
                  {"kv_heads", "kv heads"},
                  {"vocabulary", "vocabulary"},
                  {"max_sequence_tokens", "max sequence (tokens)"}};
  std::vector<std::string> names = WorkloadNames();
  for (const std::string& classic : ClassicNames()) names.push_back(classic);
  for (const std::string& name : names) {
    const Workload workload = LoadWorkload(name, AttentionBackend::kFlash);
    list.rows.push_back({{"name", name},
                         {"parameters", workload.Parameters()},
                         {"layers", workload.op_sequence_count()},
                         {"hidden", workload.hidden},
                         {"heads", workload.heads},
                         {"kv_heads", workload.kv_heads},
                         {"vocabulary", workload.vocabulary},
                         {"max_sequence_tokens", workload.max_sequence}});
  }
  return list;
}

// Lists one row per value, so that its origin can be shown beside it.
Listing ListStacks() {
  Listing list;
  list.columns = {{"stack", "stack"}, {"key", "key"}, {"value", "value"}, {"origin", "origin"}};
  for (const std::string& name : StackTable::Embedded().Names()) {
    for (const StackValue& value : StackTable::Embedded().Find(name)->values) {
      list.rows.push_back(
          {{"stack", name}, {"key", value.key}, {"value", value.value}, {"origin", value.origin}});
    }
  }
  return list;
}

// Keeps only the rows of the entry that has `id` in its first column or among its aliases.
void KeepOnly(const std::string& id, Listing& list) {
  Json kept = Json::array();
  Args known;
  for (const Json& row : list.rows) {
    Args names = row.value("aliases", Args());
    names.push_back(row[list.columns[0].key].get<std::string>());
    if (std::find(names.begin(), names.end(), id) != names.end()) kept.push_back(row);
    known.insert(known.end(), names.begin(), names.end());
  }
  if (kept.empty()) {
    throw InputError(fmt::format("ID: got \"{}\"; {}", id, NearestNames(id, known)));
  }
  list.rows = std::move(kept);
}

// Returns two nodes of this type on one switch, or one node if it has no network interfaces.
Cluster PairOf(const std::string& id) {
  const NodeType& type = NodeCatalogue::Embedded().Get(id, "ID").type;
  return Cluster(id, {{type, type.nics > 0 ? 2 : 1}});
}

void PrintTopology(const Cluster& cluster, std::ostream& out) {
  out << DescribeNodeLinks(cluster);
  const int devices = cluster.node(0).devices;
  if (devices > 1) {
    out << "\nroute from the first GPU to the last:\n"
        << DescribeRoute(cluster, cluster.FindRoute(0, devices - 1));
  }
  if (cluster.node_count() < 2) return;
  out << "\nroute to another node:\n" << DescribeRoute(cluster, cluster.FindRoute(0, devices));
}

Json TopologyJson(const Cluster& cluster) {
  Json links = Json::array();
  for (int i = 0; i < cluster.link_count(); ++i) {
    const std::string name = cluster.LinkName(i);
    const size_t arrow = name.find(" -> ");
    if (!name.starts_with("node0/")) continue;
    links.push_back({{"from", name.substr(0, arrow)},
                     {"to", name.substr(arrow + 4)},
                     {"kind", Name(cluster.link(i).kind)},
                     {"bandwidth_bytes_per_s", cluster.link(i).bandwidth.bytes_per_s()},
                     {"latency_ns", cluster.link(i).latency.ns()}});
  }
  return links;
}

Listing List(const std::string& what) {
  if (what == "gpus") return ListGpus();
  if (what == "nodes") return ListNodes();
  return what == "models" ? ListModels() : ListStacks();
}

// Whose values a template has if no GPU is named.
constexpr char kTemplateGpu[] = "h100-sxm";

struct CatalogueFlags {
  std::string list, id, template_file;
  bool topology = false, json = false;
  bool quiet = false;  // accepted, though nothing is printed that it could suppress
};

void Register(Flags& flags, CatalogueFlags& values) {
  flags.AddExample("catalogue gpus");
  flags.AddExample("catalogue nodes dgx-h100 --topology");
  flags.AddExample("catalogue gpus --template my_gpu.yaml");
  FlagGroup input = flags.In(FlagTopic::kInput);
  input.Add("LIST", values.list, {"", "What to list."})
      .OneOf({"gpus", "nodes", "models", "stacks"})
      .Required();
  input.Add("ID", values.id, {"", "Show only this entry."});
  FlagGroup output = flags.In(FlagTopic::kOutput);
  output.Add("--topology", values.topology,
             {"", "With nodes and an ID: also show the links of the node and routes over them."});
  output.Add(
      "--template", values.template_file,
      {"<file>",
       "With gpus: write a commented cluster file in the units of datasheets, to fill in for a "
       "GPU that the catalogue lacks; with an ID, its values are those of that GPU."});
  flags.AddReporting(values.json, values.quiet);
  flags.AddNote(
      "TFLOP/s are dense peaks by number format; GB is 10^9 bytes. \"best GEMM\" is the share of "
      "the 16-bit peak that the best GEMMs reach, \"sustained clock\" the share of the boost "
      "clock that board power leaves to GEMMs without pauses. \"inside\" is the bandwidth of a GPU "
      "to the others of its node.");
}

// Writes the file of --template, which must not exist yet: it is made to be edited.
void WriteTemplate(const CatalogueFlags& flags) {
  if (flags.list != "gpus") {
    throw InputError("--template: got it for " + flags.list + ", want gpus");
  }
  const std::string extension = std::filesystem::path(flags.template_file).extension().string();
  if (extension != ".yaml" && extension != ".yml") {
    throw InputError("--template: got " + flags.template_file + ", want a name that ends in .yaml");
  }
  std::error_code error;
  if (std::filesystem::exists(flags.template_file, error)) {
    throw InputError("--template: " + flags.template_file +
                     " exists, want the name of a new file: it would be lost");
  }
  const std::string gpu = flags.id.empty() ? kTemplateGpu : flags.id;
  const Device& device = DeviceCatalogue::Embedded().Get(gpu, "ID").device;
  WriteFileAtomically(flags.template_file, GpuTemplate(device, flags.template_file));
}

}  // namespace

int RunCatalogue(const Args& args, std::istream&, std::ostream& out, std::ostream&) {
  Flags described("catalogue",
                  "Lists the GPUs, nodes, networks or training stacks that names stand for.");
  CatalogueFlags flags;
  Register(described, flags);
  if (described.Parse(args, out)) return kExitOk;

  if (flags.topology && (flags.list != "nodes" || flags.id.empty())) {
    throw InputError("--topology: got it for " + flags.list + ", want nodes and an ID");
  }
  if (!flags.template_file.empty()) {
    WriteTemplate(flags);
    out << "wrote " << flags.template_file << "\n";
    return kExitOk;
  }
  Listing list = List(flags.list);
  if (!flags.id.empty()) {
    // GPUs are found by the names that --cluster takes, in any letter case.
    const DeviceEntry* const gpu =
        flags.list == "gpus" ? DeviceCatalogue::Embedded().Find(flags.id) : nullptr;
    KeepOnly(gpu == nullptr ? flags.id : gpu->device.id, list);
  }
  if (flags.json) {
    Json report = ReportHeader("catalogue", kSchema, {});
    report[flags.list] = std::move(list.rows);
    if (flags.topology) report["links"] = TopologyJson(PairOf(flags.id));
    PrintJson(std::move(report), out);
  } else {
    PrintListing(list, out);
    if (flags.topology) PrintTopology(PairOf(flags.id), out << '\n');
  }
  return kExitOk;
}

}  // namespace stagecraft
