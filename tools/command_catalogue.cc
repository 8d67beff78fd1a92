// catalogue: the GPUs, nodes, models and stacks that names stand for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/nearest.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/node_catalogue.h"
#include "sim/workload/networks/classics.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/report/node_links.h"
#include "tools/stacks/stack_table.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;
constexpr const char* kNotes =
    "TFLOP/s are dense peaks by number format; GB is 10^9 bytes; \"sustained\" is the share\n"
    "of the 16-bit peak that the best matrix products reach, \"long steps\" the share of the\n"
    "boost clock that hours of training leave (0.8 where a cluster file states no\n"
    "training_clock).\n\n"
    "Example: stagecraft catalogue gpus\n"
    "         stagecraft catalogue nodes dgx-h100 --topology";

// One list: `rows` as JSON, whose keys carry units, and what of it the table
// shows under which heading. The first column and names stand left.
struct Column {
  const char* key;
  const char* heading;
  double unit = 0;  // shown numbers are divided by it; 0: shown as they are
};
struct Listing {
  std::vector<Column> columns;
  Json rows = Json::array();
};

Listing ListGpus() {
  Listing list;
  list.columns = {{"id", "id"},
                  {"multiprocessors", "SMs"},
                  {"fp32_flop_per_s", "fp32 TFLOP/s", 1e12},
                  {"tf32_flop_per_s", "tf32 TFLOP/s", 1e12},
                  {"fp16_flop_per_s", "fp16 TFLOP/s", 1e12},
                  {"bf16_flop_per_s", "bf16 TFLOP/s", 1e12},
                  {"fp8_flop_per_s", "fp8 TFLOP/s", 1e12},
                  {"memory_bytes", "memory GB", 1e9},
                  {"memory_bandwidth_bytes_per_s", "memory GB/s", 1e9},
                  {"sustained_fraction", "sustained"},
                  {"training_clock", "long steps"},
                  {"reference_node", "node"},
                  {"aliases", "also called"}};
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    const Device& device = entry.device;
    Json row = {
        {"id", device.id}, {"name", device.name}, {"multiprocessors", device.multiprocessors}};
    for (int dtype = 0; dtype < kDTypeCount; ++dtype) {
      const DType type = static_cast<DType>(dtype);
      row[fmt::format("{}_flop_per_s", Name(type))] = device.Peak(type).flop_per_s();
    }
    row["memory_bytes"] = device.memory.count();
    row["memory_bandwidth_bytes_per_s"] = device.memory_bandwidth.bytes_per_s();
    row["sustained_fraction"] = device.sustained_fraction;
    row["training_clock"] = device.training_clock;
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
                  {"intra_bandwidth_bytes_per_s", "inside GB/s per GPU", 1e9},
                  {"nics", "NICs"},
                  {"nic_bits_per_s", "NIC Gbit/s", 1e9},
                  {"name", "name"}};
  for (const NodeEntry& entry : NodeCatalogue::Embedded().entries()) {
    const NodeType& type = entry.type;
    list.rows.push_back({{"id", type.id},
                         {"gpu", type.device.id},
                         {"gpus", type.devices},
                         {"wiring", Name(type.wiring)},
                         {"intra_bandwidth_bytes_per_s", type.intra.bandwidth.bytes_per_s()},
                         {"nics", type.nics},
                         {"nic_bits_per_s", type.nic.bandwidth.bytes_per_s() * 8},
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
                         {"layers", workload.block_count()},
                         {"hidden", workload.hidden},
                         {"heads", workload.heads},
                         {"kv_heads", workload.kv_heads},
                         {"vocabulary", workload.vocabulary},
                         {"max_sequence_tokens", workload.max_sequence}});
  }
  return list;
}

// One row per value, so that each stands beside its origin.
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

// Keeps the rows of one entry, by its first column or another name of it.
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

// What the hardware does not have is "-".
std::string Cell(const Json& value, double unit) {
  if (value.is_array()) return fmt::format("{}", fmt::join(value.get<Args>(), ", "));
  if (value.is_string()) return value.get<std::string>();
  const double number = value.get<double>();
  if (number == 0) return "-";
  return unit == 0 ? fmt::format("{}", number) : fmt::format("{:.5g}", number / unit);
}

void PrintTable(const Listing& list, std::ostream& out) {
  std::vector<std::string> headings;
  std::vector<bool> stands_left;
  for (const Column& column : list.columns) {
    headings.push_back(column.heading);
    stands_left.push_back(list.rows.empty() || !list.rows[0][column.key].is_number());
  }
  TextTable table(std::move(headings), std::move(stands_left));
  for (const Json& row : list.rows) {
    std::vector<std::string> cells;
    for (const Column& column : list.columns) cells.push_back(Cell(row[column.key], column.unit));
    table.Add(std::move(cells));
  }
  table.Print(out);
}

// Two such nodes on one switch, or one that has no interfaces.
Cluster PairOf(const std::string& id) {
  const NodeType& type = NodeCatalogue::Embedded().Get(id, "ID").type;
  return Cluster(id, {{type, type.nics > 0 ? 2 : 1}});
}

void PrintTopology(const Cluster& cluster, std::ostream& out) {
  out << DescribeNodeLinks(cluster);
  const int devices = cluster.node(0).devices;
  if (devices > 1) {
    out << "\nfrom the first GPU to the last:\n"
        << DescribeRoute(cluster, cluster.FindRoute(0, devices - 1));
  }
  if (cluster.node_count() < 2) return;
  out << "\nto another node:\n" << DescribeRoute(cluster, cluster.FindRoute(0, devices));
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

}  // namespace

int RunCatalogue(const Args& args, std::istream&, std::ostream& out, std::ostream&) {
  CLI::App app("Lists the GPUs, nodes, models or stacks that names stand for.",
               "stagecraft catalogue");
  app.footer(kNotes);
  std::string what, id;
  bool as_json = false;
  bool with_topology = false;
  app.add_option("LIST", what, "what to list")
      ->required()
      ->check(OneOf({"gpus", "nodes", "models", "stacks"}));
  app.add_option("ID", id, "this entry alone");
  app.add_flag("--topology", with_topology, "the links of a node, and routes over them");
  app.add_flag("--json", as_json, "one JSON object");
  if (ParseFlags(app, args, out)) return kExitOk;

  if (with_topology && (what != "nodes" || id.empty())) {
    throw InputError("--topology: got it for " + what + ", want nodes and an ID");
  }
  Listing list = List(what);
  if (!id.empty()) KeepOnly(id, list);
  if (as_json) {
    Json report = ReportHeader("catalogue", kSchema, {});
    report[what] = std::move(list.rows);
    if (with_topology) report["links"] = TopologyJson(PairOf(id));
    PrintJson(std::move(report), out);
  } else {
    PrintTable(list, out);
    if (with_topology) PrintTopology(PairOf(id), out << '\n');
  }
  return kExitOk;
}

}  // namespace stagecraft
