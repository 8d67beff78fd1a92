// import: cluster files, and tables of collectives, from what other tools print; cluster files of
// this machine.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/collectives.h"
#include "costmodel/proto_file.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/import/import_text.h"
#include "tools/import/kubernetes_nodes.h"
#include "tools/import/local_gpu.h"
#include "tools/import/nccl_topology.h"
#include "tools/import/slurm_topology.h"
#include "tools/import/smi_topology.h"
#include "tools/network/network_import.h"
#include "tools/run/local_host_import.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/proto_text.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;
constexpr const char* kNotes =
    "nccl-topo  XML of NCCL_TOPO_DUMP_FILE       slurm  topology.conf or .yaml, --gres gres.conf\n"
    "smi-topo   nvidia-smi topo -m, with --gpu   k8s    kubectl get nodes -o json\n"
    "nccl-tests what its programs print or write with -J, any number of files, with --cluster\n"
    "local-host this host, measured: no IN. For run --executor host, and with what\n"
    "           profile --device host measures for simulate\n"
    "local-gpu  the GPUs of this machine: no IN. With --parts one of them becomes several\n"
    "           devices of so many multiprocessors, or so many equal ones, or ones that are to\n"
    "           each other as 3:5, measured too\n\n"
    "OUT is a .textproto, .json or .yaml file that --cluster takes; of nccl-tests a .csv that\n"
    "evaluate --network takes. It is written whole or not at all.\n\n"
    "Example: stagecraft import slurm topology.conf --gres gres.conf -o cluster.textproto\n"
    "         stagecraft import nccl-tests all_reduce.log --cluster dgx-a100:4 -o measured.csv\n"
    "         stagecraft import local-gpu --parts 64,68 -o parts.json";

struct ImportFlags {
  std::string format, out, gres, cluster, collective;
  Args in;
  ImportOptions options;
  LocalGpuWish local;
};

template <int64_t kMostBytes, auto kImport>
ImportedCluster ReadAndImport(const ImportFlags& flags, const std::string& in) {
  return kImport(ReadSourceText(in, kMostBytes), in, flags.options);
}

ImportedCluster ReadAndImportSlurm(const ImportFlags& flags, const std::string& in) {
  SlurmText gres;
  if (!flags.gres.empty()) gres = {ReadSourceText(flags.gres, kMostSlurmBytes), flags.gres};
  return ImportSlurmTopology({ReadSourceText(in, kMostSlurmBytes), in}, gres, flags.options);
}

ImportedCluster MeasureHost(const ImportFlags&, const std::string&) { return ImportLocalHost(); }
ImportedCluster LookAtLocalGpu(const ImportFlags& flags, const std::string&) {
  return ImportLocalGpu(flags.local, flags.options);
}

struct Format {
  std::set<std::string> flags;  // that it makes use of; any other would change nothing
  ImportedCluster (*read)(const ImportFlags& flags, const std::string& in);  // null: a table
  bool has_input = true;  // otherwise it looks at this machine
};

const std::map<std::string, Format>& Formats() {
  static const std::map<std::string, Format> formats = {
      {"nccl-topo",
       {{"--gpu", "--nic-gbit"}, ReadAndImport<kMostNcclTopologyBytes, ImportNcclTopology>}},
      {"smi-topo",
       {{"--gpu", "--nic-gbit"}, ReadAndImport<kMostSmiTopologyBytes, ImportSmiTopology>}},
      {"slurm",
       {{"--gpu", "--node", "--gres", "--oversubscription", "--topology"}, ReadAndImportSlurm}},
      {"k8s",
       {{"--gpu", "--node", "--oversubscription"},
        ReadAndImport<kMostKubernetesBytes, ImportKubernetesNodes>}},
      {"nccl-tests", {{"--cluster", "--collective"}, nullptr}},
      {"local-host", {{}, MeasureHost, false}},
      {"local-gpu", {{"--gpu", "--parts", "--board"}, LookAtLocalGpu, false}},
  };
  return formats;
}

void CheckFlags(const CLI::App& app, const std::string& format) {
  const std::set<std::string>& used = Formats().at(format).flags;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool is_shared = name == "--json" || name == "--help" || !name.starts_with("--");
    if (is_shared || option->count() == 0 || used.contains(name)) continue;
    throw InputError(name + ": got a value that import " + format + " does not use, want none");
  }
  if (app.count("--gpu") > 0 && app.count("--node") > 0) {
    throw InputError("--gpu: got a value beside --node, which says it, want one of them");
  }
  if (app.count("--board") > 0 && app.get_option("--board")->as<int>() < 0) {
    throw InputError("--board: got " + app.get_option("--board")->as<std::string>() +
                     ", want 0 or more");
  }
  for (const char* name : {"--nic-gbit", "--oversubscription"}) {
    const CLI::Option* option = app.get_option(name);
    if (option->count() > 0 && !(option->as<double>() > 0)) {
      throw InputError(std::string(name) + ": got " + option->as<std::string>() + ", want > 0");
    }
  }
}

// How many files there are to read, and one to write.
void CheckFiles(const ImportFlags& flags) {
  const Format& format = Formats().at(flags.format);
  const bool is_table = format.read == nullptr;
  const size_t files = flags.in.size();
  const bool is_right = is_table ? files > 0 : files == (format.has_input ? 1 : 0);
  const std::string want = is_table           ? "one or more"
                           : format.has_input ? "one"
                                              : "none with " + flags.format;
  if (!is_right) {
    throw InputError("IN: got " + std::to_string(files) + " files, want " + want);
  }
  if (flags.out.empty()) {
    throw InputError("-o: got no file, want the cluster file or table to write");
  }
}

void AddOptions(CLI::App& app, ImportFlags& flags) {
  Args formats;
  for (const auto& [name, format] : Formats()) formats.push_back(name);
  app.add_option("FORMAT", flags.format, "what IN is")->required()->check(OneOf(formats));
  app.add_option("IN", flags.in,
                 "the file to read; of nccl-tests one or more, of local-gpu and local-host none");
  app.add_option("-o", flags.out, "the cluster file or table to write");
  app.add_option("--gpu", flags.options.gpu, "all GPUs are this one of the catalogue");
  app.add_option("--node", flags.options.node, "all nodes are this one of the catalogue");
  app.add_option("--gres", flags.gres, "slurm: gres.conf or slurm.conf, for the nodes' GPUs");
  app.add_option("--topology", flags.options.topology, "slurm: which of several in a .yaml");
  app.add_option("--nic-gbit", flags.options.nic_gbit, "Gbit/s of each network interface");
  app.add_option("--oversubscription", flags.options.oversubscription,
                 "bandwidth below a leaf switch over that above it (1)");
  app.add_option("--cluster", flags.cluster, "nccl-tests: where the logs were taken");
  app.add_option("--collective", flags.collective, "nccl-tests: what was run, if no log says it")
      ->check(OneOf(CollectiveWords()));
  app.add_option("--parts", flags.local.parts,
                 "local-gpu: multiprocessors of each, as 64,68, or 2, or shares, as 3:5");
  app.add_option("--board", flags.local.board, "local-gpu: this one alone, from 0");
}

// `what` has the name of the key that says it in JSON.
void Report(const ImportFlags& flags, const char* what, const std::string& description,
            const Args& notes, bool as_json, std::ostream& out) {
  if (!as_json) {
    out << flags.out << ": " << description << '\n';
    for (const std::string& note : notes) out << "  note: " << note << '\n';
    return;
  }
  Args inputs = flags.in;
  if (!flags.gres.empty()) inputs.push_back(flags.gres);
  nlohmann::ordered_json report = ReportHeader("import", kSchema, inputs);
  report["output"] = flags.out;
  report[what] = description;
  report["notes"] = notes;
  PrintJson(std::move(report), out);
}

void WriteTable(const ImportFlags& flags, bool as_json, std::ostream& out) {
  if (std::filesystem::path(flags.out).extension() != ".csv") {
    throw InputError("-o: got \"" + flags.out + "\", want a .csv file");
  }
  NetworkImport source = {flags.in, flags.cluster, {}};
  if (!flags.collective.empty()) source.kind = FindCollective(flags.collective)->kind;
  const ImportedCollectives imported = ImportNcclTests(source, flags.out);
  WriteFileAtomically(flags.out, imported.table);
  Report(flags, "table", imported.description, imported.notes, as_json, out);
}

void WriteCluster(const ImportFlags& flags, bool as_json, std::ostream& out) {
  CheckProtoTextPath("-o", flags.out);
  const Format& format = Formats().at(flags.format);
  const std::string in = format.has_input ? flags.in[0] : flags.format;
  ImportedCluster imported = format.read(flags, in);
  imported.cluster.set_name(std::filesystem::path(in).filename().string());
  const Cluster cluster = ClusterFromProto(imported.cluster, in);
  WriteFileAtomically(flags.out, ProtoText(imported.cluster,
                                           std::filesystem::path(flags.out).extension().string()));
  Args notes = std::move(imported.notes);
  std::sort(notes.begin(), notes.end());
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
  Report(flags, "cluster", DescribeCluster(cluster), notes, as_json, out);
}

}  // namespace

int RunImport(const Args& args, std::istream&, std::ostream& out, std::ostream&) {
  CLI::App app("Makes a cluster file, or a table of collectives, of what another tool printed.",
               "stagecraft import");
  app.footer(kNotes);
  ImportFlags flags;
  bool as_json = false;
  AddOptions(app, flags);
  app.add_flag("--json", as_json, "one JSON object");
  if (ParseFlags(app, args, out)) return kExitOk;
  CheckFlags(app, flags.format);
  CheckFiles(flags);
  if (Formats().at(flags.format).read == nullptr) {
    WriteTable(flags, as_json, out);
  } else {
    WriteCluster(flags, as_json, out);
  }
  return kExitOk;
}

}  // namespace stagecraft
