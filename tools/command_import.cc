// import: makes cluster files and tables of collectives from what other tools print, cluster files
// of this machine, plans from the files of training frameworks, and measured timelines from the
// traces of profilers.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/collectives.h"
#include "costmodel/device.h"
#include "costmodel/proto_file.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/frameworks/training_import.h"
#include "tools/import/import_text.h"
#include "tools/import/kubernetes_nodes.h"
#include "tools/import/local_gpu.h"
#include "tools/import/nccl_topology.h"
#include "tools/import/slurm_topology.h"
#include "tools/import/smi_topology.h"
#include "tools/network/network_import.h"
#include "tools/recorded/trace_report.h"
#include "tools/run/local_host_import.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/output_files.h"
#include "tools/verb/print_json.h"
#include "tools/verb/proto_text.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;
struct ImportFlags {
  std::string format, out, gres, cluster, collective, attention_causal, sample_precision;
  Args in;
  ImportOptions options;
  LocalGpuWish local;
  TrainingImport training;
  TraceOutputs trace;
  bool cuts_off = false;
  bool json = false;
  bool quiet = false;  // accepted, though nothing is printed that it could suppress

  std::optional<bool> IsAttentionCausal() const {
    if (attention_causal.empty()) return {};
    if (trace.samples.empty()) {
      throw InputError("--attention-causal: got it without --samples, want both");
    }
    return attention_causal == "true";
  }

  std::optional<DType> SampleFormat() const {
    if (sample_precision.empty()) return {};
    if (trace.samples.empty()) {
      throw InputError("--sample-precision: got it without --samples, want both");
    }
    int format = 0;
    while (sample_precision != Name(static_cast<DType>(format))) ++format;  // it is one of them
    return static_cast<DType>(format);
  }
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
  std::set<std::string> flags;  // that it uses; others are refused, as they would change nothing
  // Null: it makes no cluster, but a table or a plan.
  ImportedCluster (*read)(const ImportFlags& flags, const std::string& in);
  bool has_input = true;  // otherwise it describes this machine
};

std::map<std::string, Format> MakeFormats() {
  std::map<std::string, Format> formats = {
      {"nccl-topo",
       {{"--gpu", "--nic-gbit", "--network-kind"},
        ReadAndImport<kMostNcclTopologyBytes, ImportNcclTopology>}},
      {"smi-topo",
       {{"--gpu", "--nic-gbit", "--network-kind"},
        ReadAndImport<kMostSmiTopologyBytes, ImportSmiTopology>}},
      {"slurm",
       {{"--gpu", "--node", "--gres", "--oversubscription", "--topology"}, ReadAndImportSlurm}},
      {"k8s",
       {{"--gpu", "--node", "--oversubscription"},
        ReadAndImport<kMostKubernetesBytes, ImportKubernetesNodes>}},
      {"nccl-tests", {{"--cluster", "--collective"}, nullptr}},
      {"kineto",
       {{"--gpu", "--cluster", "--samples", "--attention-causal", "--collectives", "--cut-off"},
        nullptr}},
      {"nsys",
       {{"--gpu", "--cluster", "--samples", "--attention-causal", "--sample-precision",
         "--collectives"},
        nullptr}},
      {"chakra", {{"--cut-off"}, nullptr}},
      {"local-host", {{}, MeasureHost, false}},
      {"local-gpu", {{"--gpu", "--parts", "--board"}, LookAtLocalGpu, false}},
  };
  const Args& names = TrainingImport::FlagNames();
  for (const TrainingImport::Format& one : TrainingImport::Formats()) {
    formats[one.name] = {{names.begin(), names.end()}, nullptr};
  }
  return formats;
}

const std::map<std::string, Format>& Formats() {
  static const std::map<std::string, Format> formats = MakeFormats();
  return formats;
}

// The traces of profilers, which become timelines.
const std::map<std::string, TraceFormat>& TraceFormats() {
  static const std::map<std::string, TraceFormat> formats = {
      {"kineto", TraceFormat::kKineto},
      {"nsys", TraceFormat::kNsys},
      {"chakra", TraceFormat::kChakra},
  };
  return formats;
}

void CheckFlags(const Flags& described, const std::string& format) {
  const std::set<std::string>& used = Formats().at(format).flags;
  for (const Flag& flag : described.Given()) {
    const std::string& name = flag.name();
    const bool is_shared = name == "--json" || name == "--quiet" || !name.starts_with("--");
    if (is_shared || used.contains(name)) continue;
    throw InputError(name + ": got a value that import " + format + " does not use, want none");
  }
  if (described.IsGiven("--gpu") && described.IsGiven("--node")) {
    throw InputError("--gpu: got it with --node, which names the GPU, want one of them");
  }
}

void CheckNumbers(const Flags& described, const ImportFlags& flags) {
  const Flag gpu = described.Find("--board");
  if (gpu.is_given() && flags.local.gpu < 0) {
    throw InputError("--board: got " + gpu.text() + ", want 0 or more");
  }
  for (const auto& [name, value] :
       {std::pair("--nic-gbit", flags.options.nic_gbit),
        std::pair("--oversubscription", flags.options.oversubscription)}) {
    const Flag flag = described.Find(name);
    if (flag.is_given() && !(value > 0)) {
      throw InputError(std::string(name) + ": got " + flag.text() + ", want > 0");
    }
  }
}

// Throws InputError unless there are as many files to read as the format takes, and one to write.
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
    throw InputError("-o: got no file, want the cluster file, table, plan or timeline to write");
  }
}

void AddFormats(Flags& flags) {
  flags.AddExample("import slurm topology.conf --gres gres.conf -o cluster.textproto");
  flags.AddExample("import nccl-tests all_reduce.log --cluster dgx-a100:4 -o measured.csv");
  flags.AddExample("import local-gpu --parts 64,68 -o parts.json");
  flags.AddExample("import megatron train.sh --cluster h100-sxm:8x8 -o plan.yaml");
  flags.AddExample("import kineto rank0.json.gz -o measured.pb --samples gemms.csv");
  flags.AddNote("Formats:");
  flags.AddTerm("nccl-topo", "the XML that NCCL writes to the file of NCCL_TOPO_DUMP_FILE");
  flags.AddTerm("smi-topo", "nvidia-smi topo -m, with --gpu");
  flags.AddTerm("slurm", "topology.conf or topology.yaml, with --gres for the nodes' GPUs");
  flags.AddTerm("k8s", "kubectl get nodes -o json");
  flags.AddTerm("nccl-tests",
                "what its programs print, or write with -J: any number of files, with --cluster");
  flags.AddTerm("kineto",
                "the JSON of PyTorch's profiler, also gzipped, a file for each rank: the step that "
                "stands for all becomes a timeline for compare; with --samples and --collectives "
                "also tables for fit");
  flags.AddTerm("nsys",
                "the same for what nsys export --type sqlite wrote; sizes are those of PyTorch's "
                "emit_nvtx(record_shapes=True), bytes of collectives those of NCCL's ranges");
  flags.AddTerm("chakra",
                "the same for execution traces of MLCommons Chakra, a file for each rank");
  flags.AddTerm("local-gpu",
                "the GPUs of this machine; with --parts one of them, divided into several devices, "
                "whose rates are measured; takes no IN");
  flags.AddTerm("local-host", "the CPU cores of this host, measured; takes no IN");
  for (const TrainingImport::Format& one : TrainingImport::Formats()) {
    flags.AddTerm(one.name, one.reads);
  }
  flags.AddNote(
      "A cluster file of local-host is for run --executor host and, with samples of profile "
      "--device host, for simulate.");
}

void RegisterCluster(Flags& flags, ImportFlags& values) {
  FlagGroup group = flags.In(FlagTopic::kCluster);
  group.Add("--gpu", values.options.gpu,
            {"<gpu>", "Treat all GPUs as this type of the catalogue.", "", "as the input says"});
  group.Add("--node", values.options.node,
            {"<node>", "Treat all nodes as this type of the catalogue.", "", "as the input says"});
  group.Add("--gres", values.gres,
            {"<file>", "With slurm: gres.conf or slurm.conf, which say what GPUs the nodes have."});
  group.Add("--topology", values.options.topology,
            {"<name>", "With slurm: which of several topologies in a .yaml file.", "",
             "the default one"});
  group.Add("--nic-gbit", values.options.nic_gbit,
            {"<gbit/s>", "Gbit/s of each network interface.", "above 0", "as the catalogue says"});
  group
      .Add("--network-kind", values.options.network,
           {"<kind>", "What the network interfaces speak.", "", "as the input says"})
      .OneOf(NetworkKindWords());
  group.Add("--oversubscription", values.options.oversubscription,
            {"<x>", "Bandwidth below a leaf switch over the bandwidth above it.", "above 0", "1"});
  group.Add(
      "--cluster", values.cluster,
      {"<cluster>",
       "As for simulate; with nccl-tests, kineto and nsys: where logs or traces were taken; with a "
       "training framework: what the training runs on."});
  group
      .Add("--collective", values.collective,
           {"<name>", "With nccl-tests: which collective was run, if the logs do not say."})
      .OneOf(CollectiveWords());
  group.Add("--parts", values.local.parts,
            {"<n,...>",
             "With local-gpu: divide one GPU into parts: the multiprocessors of each (64,68), a "
             "number of equal parts (2), or shares (3:5)."});
  group.Add("--board", values.local.gpu,
            {"<n>", "With local-gpu: only this GPU, from 0.", "0 or more",
             "all, or with --parts the first"});
}

void RegisterTraces(Flags& flags, ImportFlags& values) {
  FlagGroup output = flags.In(FlagTopic::kOutput);
  output.Add("--samples", values.trace.samples,
             {"<file.csv>",
              "With kineto and nsys: also write the times of matrix products and of fused "
              "attention, for fit and --measured-ops. The profiler must have recorded shapes."});
  output
      .Add("--attention-causal", values.attention_causal,
           {"<bool>",
            "With --samples: whether attention is causal where neither the inputs of its operator "
            "nor its kernel tell.",
            "", "such calls give no sample"})
      .OneOf({"true", "false"});
  Args formats;
  for (int i = 0; i < kDTypeCount; ++i) formats.emplace_back(Name(static_cast<DType>(i)));
  output
      .Add("--sample-precision", values.sample_precision,
           {"<format>",
            "With nsys and --samples: the number format of products and attention where the names "
            "of their kernels do not tell it.",
            "", "such calls give no sample"})
      .OneOf(formats);
  output.Add(
      "--collectives", values.trace.collectives,
      {"<file.csv>", "With kineto, nsys and --cluster: also write the times of collectives."});
  flags.In(FlagTopic::kInput)
      .Add("--cut-off", values.cuts_off,
           {"", "With kineto and chakra: take what is there of a file that ends too early."});
}

void Register(Flags& flags, ImportFlags& values) {
  Args formats;
  for (const auto& [name, format] : Formats()) formats.push_back(name);
  FlagGroup input = flags.In(FlagTopic::kInput);
  input.Add("FORMAT", values.format, {"", "What to import (below)."}).OneOf(formats).Required();
  input.Add("IN", values.in,
            {"",
             "The file to read; one or more with nccl-tests, huggingface and traces, none with "
             "local-gpu and local-host."});
  flags.In(FlagTopic::kOutput)
      .Add(
          "-o,--output", values.out,
          {"<file>",
           "The file to write, whole or not at all: a .textproto, .json or .yaml that --cluster "
           "takes; with nccl-tests a .csv that evaluate --network takes; with a training framework "
           "a plan for --plan, beside which the network is written; with traces a .pb that compare "
           "takes."});
  flags.AddReporting(values.json, values.quiet);
  RegisterCluster(flags, values);
  values.training.Register(flags);
  RegisterTraces(flags, values);
  AddFormats(flags);
}

// Reports what was written. `what` is the key of `description` in JSON.
void Report(const ImportFlags& flags, const char* what, const std::string& description,
            const Args& notes, std::ostream& out) {
  if (!flags.json) {
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

void WriteTable(const ImportFlags& flags, std::ostream& out) {
  if (std::filesystem::path(flags.out).extension() != ".csv") {
    throw InputError("-o: got \"" + flags.out + "\", want a .csv file");
  }
  NetworkImport source = {flags.in, flags.cluster, {}};
  if (!flags.collective.empty()) source.kind = FindCollective(flags.collective)->kind;
  const ImportedCollectives imported = ImportNcclTests(source, flags.out);
  WriteFileAtomically(flags.out, imported.table);
  Report(flags, "table", imported.description, imported.notes, out);
}

void WriteTimeline(const ImportFlags& flags, std::ostream& out) {
  const TraceImport wish = {.format = TraceFormats().at(flags.format),
                            .files = flags.in,
                            .cut_off = flags.cuts_off ? CutOff::kTakeWhatIsThere : CutOff::kRefuse,
                            .gpu = flags.options.gpu,
                            .cluster = flags.cluster,
                            .is_attention_causal = flags.IsAttentionCausal(),
                            .sample_format = flags.SampleFormat(),
                            .wants_samples = !flags.trace.samples.empty(),
                            .wants_collectives = !flags.trace.collectives.empty()};
  const TraceReport report = WriteTraces(wish, flags.trace);
  if (!flags.json) {
    PrintTraceReport(report, out);
    return;
  }
  nlohmann::ordered_json json = ReportHeader("import", kSchema, flags.in);
  json.update(TraceReportToJson(report));
  PrintJson(std::move(json), out);
}

void WriteCluster(const ImportFlags& flags, std::ostream& out) {
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
  Report(flags, "cluster", DescribeCluster(cluster), notes, out);
}

}  // namespace

int RunImport(const Args& args, std::istream&, std::ostream& out, std::ostream&) {
  Flags described(
      "import",
      "Makes a cluster file from what another tool printed or for this machine, a table "
      "of collectives from nccl-tests logs, a plan from the files of a training framework, "
      "or a timeline from the traces of profilers.");
  ImportFlags flags;
  Register(described, flags);
  if (described.Parse(args, out)) return kExitOk;
  CheckOutputFiles(args, {"--samples", "--collectives"});  // fit reads these
  CheckFlags(described, flags.format);
  CheckNumbers(described, flags);
  CheckFiles(flags);
  if (TrainingImport::Knows(flags.format)) {
    flags.training.Run(flags.format, {flags.in, flags.out, flags.cluster, flags.json}, out);
  } else if (TraceFormats().contains(flags.format)) {
    flags.trace.timeline = flags.out;
    WriteTimeline(flags, out);
  } else if (Formats().at(flags.format).read == nullptr) {
    WriteTable(flags, out);
  } else {
    WriteCluster(flags, out);
  }
  return kExitOk;
}

}  // namespace stagecraft
