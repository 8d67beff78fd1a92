#include "tools/check/check_file.h"

#include <fmt/core.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/file_kind.h"
#include "costmodel/json_to_proto.h"
#include "costmodel/learned/samples/gzip.h"
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/proto_file.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/readers/hf_config.h"
#include "tools/check/check_answers.h"
#include "tools/check/check_foreign.h"
#include "tools/check/check_kinds.h"
#include "tools/check/check_networks.h"
#include "tools/check/check_samples.h"
#include "tools/check/check_sweeps.h"
#include "tools/own/own_steps.h"
#include "tools/recorded/chakra_reader.h"
#include "tools/recorded/nsys_reader.h"
#include "tools/recorded/recording.h"
#include "tools/trace/check_trace.h"
#include "tools/validation/csv_table.h"
#include "tools/validation/measured_row.h"

namespace stagecraft {
namespace {

using Keys = std::set<std::string>;

// Kinds that are recognised in addition to FileKinds().
constexpr const char* kOtherKinds[] = {"Hugging Face config.json",
                                       "ONNX model",
                                       "PipeDream profile",
                                       "dnn-partitioning graph",
                                       "Piper graph",
                                       "policy",
                                       "PyTorch pipeline schedule",
                                       "measured rows",
                                       "own steps",
                                       "measured collectives",
                                       "nccl-tests log",
                                       "NCCL topology XML",
                                       "nvidia-smi topology",
                                       "Slurm topology",
                                       "Slurm GPUs",
                                       "Kubernetes nodes",
                                       "launch script",
                                       "torchtitan job",
                                       "Perfetto trace",
                                       "Chrome trace",
                                       "sweep database",
                                       "sweep table",
                                       "Nsight Systems export",
                                       "Chakra execution trace",
                                       "training configuration",
                                       "answer of a verb",
                                       "HTML report"};

constexpr const char* kWanted = "one of the kinds of file that check --help lists";

// Turns "nodeGroups" into "node_groups", as the reader of the file does.
std::string SnakeCase(const std::string& key) {
  std::string text;
  for (const char c : key) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) text += '_';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

Keys KeysOf(const nlohmann::json& value) {
  Keys keys;
  if (!value.is_object()) return keys;
  for (const auto& [key, inside] : value.items()) keys.insert(key);
  return keys;
}

bool IsChromeTrace(const nlohmann::json& root) {
  if (root.is_object()) return root.contains("traceEvents");
  return root.is_array() && !root.empty() && root[0].is_object() && root[0].contains("ph");
}

bool HasAny(const Keys& keys, const std::vector<std::string>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const std::string& key) { return keys.contains(key); });
}

// Returns the kind that has most of its telling keys among `keys`; nullptr if no kind has any.
const FileKind* Recognise(const Keys& keys) {
  Keys folded;
  for (const std::string& key : keys) folded.insert(SnakeCase(key));
  const FileKind* best = nullptr;
  int64_t most = 0;
  for (const FileKind& kind : FileKinds()) {
    const int64_t count =
        std::count_if(kind.telling_keys.begin(), kind.telling_keys.end(),
                      [&](const std::string& key) { return folded.contains(key); });
    if (count > most) {
      best = &kind;
      most = count;
    }
  }
  return best;
}

FileSummary CheckKind(const FileKind& kind, const std::string& text, const std::string& path,
                      const std::string& extension, const CheckContext& context) {
  const auto message = kind.make();
  ParseProtoText(text, path, extension, message.get());
  return {kind.name, kind.describe(*message, path, context)};
}

FileSummary CheckHuggingFace(const std::string& text, const std::string& path) {
  const NetworkConfig config = ParseHuggingFaceNetwork(text, path);
  const Workload workload = BuildNetwork(config, AttentionBackend::kFlash, path);
  return {"Hugging Face config.json",
          fmt::format("{}: {} layers, {} parameters", NetworkFamilyName(config),
                      workload.op_sequence_count(), workload.Parameters())};
}

FileSummary CheckStructured(const std::string& text, const std::string& path,
                            const std::string& extension, const CheckContext& context) {
  Keys keys;
  if (extension == ".json") {
    const nlohmann::json root = ParseJson(text, path);
    if (IsChromeTrace(root)) return {"Chrome trace", CheckChromeTrace(text, path)};
    keys = KeysOf(root);
    if (keys.contains("items")) return CheckKubernetesNodes(text, path);
    if (const auto answer = CheckAnswer(root, text, path)) return *answer;
    if (const auto config = CheckTrainingConfig(root, path)) return *config;
  } else if (extension == ".yaml" || extension == ".yml") {
    const nlohmann::json root = ParseYaml(text, path);
    if (root.is_array()) return CheckSlurmTopology(text, path);
    if (const auto config = CheckTrainingConfig(root, path)) return *config;
    keys = KeysOf(root);
  } else {
    keys = TextFormatKeys(text);
  }
  if (extension == ".json" && IsGraphJson(text)) return CheckGraphJson(text, path);
  if (extension == ".json" &&
      HasAny(keys, {"model_type", "architectures", "text_config", "num_hidden_layers"})) {
    return CheckHuggingFace(text, path);
  }
  const FileKind* kind = Recognise(keys);
  if (kind == nullptr) {
    throw InputError(fmt::format("{}: got {}, want {}", path,
                                 keys.empty() ? "no keys" : "the key \"" + *keys.begin() + "\"",
                                 kWanted));
  }
  return CheckKind(*kind, text, path, extension, context);
}

// Whether all fields of the file are fields of this kind.
bool HasFieldsOf(const FileKind& kind, const std::string& bytes, const std::string& path) {
  try {
    ParseProtoText(bytes, path, ".pb", kind.make().get());
  } catch (const InputError&) {
    return false;
  }
  return true;
}

// Binary messages do not say what they are, and names may pass for numbers. Among the kinds that
// have all the fields of the file, the first that accepts it as sound is taken; if none does, the
// first says what is wrong.
FileSummary CheckBinary(const std::string& bytes, const std::string& path,
                        const CheckContext& context) {
  std::string problem;
  for (const FileKind& kind : FileKinds()) {
    if (!HasFieldsOf(kind, bytes, path)) continue;
    try {
      return CheckKind(kind, bytes, path, ".pb", context);
    } catch (const InputError& error) {
      if (problem.empty()) problem = error.what();
    }
  }
  if (!problem.empty()) throw InputError(problem);
  throw InputError(
      fmt::format("{}: got {} bytes that are damaged or cut short, want a timeline, schedule or "
                  "other file of stagecraft",
                  path, bytes.size()));
}

FileSummary CheckTable(const std::string& text, const std::string& path) {
  if (IsSampleTable(text)) return {"samples", DescribeSamples(ParseSamples(text, path), path)};
  const std::string stem = std::filesystem::path(path).stem().string();
  const CsvTable table = CsvTable::Parse(text, path);
  if (IsOwnTable(table)) {
    return {"own steps", fmt::format("{} measured training steps", ReadOwnSteps(table).size())};
  }
  const auto rows = ReadMeasuredRows(table, stem);
  const auto scored =
      std::count_if(rows.begin(), rows.end(), [](const MeasuredRow& row) { return row.is_scored; });
  return {"measured rows", fmt::format("{} rows, {} of them scored", rows.size(), scored)};
}

FileSummary CheckNsys(const std::string& path) {
  const std::vector<Recording> processes = ReadNsys(path);
  size_t kernels = 0;
  for (const Recording& process : processes) kernels += process.kernels.size();
  return {"Nsight Systems export",
          fmt::format("{} kernels and copies of {} processes", kernels, processes.size())};
}

FileSummary CheckChakra(const std::string& path) {
  const Recording recording = ReadChakra(path, CutOff::kRefuse);
  return {"Chakra execution trace",
          fmt::format("{} nodes that ran on the device", recording.kernels.size())};
}

// Kinds of file that commands unzip: traces, tables of collectives, operator graphs and samples.
FileSummary CheckZipped(const std::string& bytes, const std::string& path) {
  if (const auto collectives = CheckForeignText(bytes, path, ".gz")) return *collectives;
  const std::string text = Gunzip(bytes, path);
  if (path.ends_with(".json.gz") && IsChromeTrace(ParseJson(text, path))) {
    return {"Chrome trace", CheckChromeTrace(text, path)};
  }
  if (const auto graph = CheckUnzippedGraph(text, path)) return *graph;
  return {"samples", DescribeSamples(ParseSamples(bytes, path), path)};
}

}  // namespace

std::span<const std::string> KindNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const FileKind& kind : FileKinds()) all.emplace_back(kind.name);
    all.insert(all.end(), std::begin(kOtherKinds), std::end(kOtherKinds));
    return all;
  }();
  return names;
}

FileSummary CheckFile(const std::string& path, const CheckContext& context) {
  // Bytes are parsed as messages that they may not be, and protobuf would print its complaints.
  const google::protobuf::LogSilencer silencer;
  const std::string text = ReadFile(path);
  const std::string extension = std::filesystem::path(path).extension().string();
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw InputError(fmt::format("{}: got an empty file, want {}", path, kWanted));
  }
  if (IsGzip(text)) return CheckZipped(text, path);
  if (const auto sweep = CheckSweepFile(text, path)) return *sweep;
  if (const auto foreign = CheckForeignText(text, path, extension)) return *foreign;
  if (extension == ".pftrace") return {"Perfetto trace", CheckPerfettoTrace(text, path)};
  if (extension == ".csv") return CheckTable(text, path);
  if (IsSqliteFile(path)) return CheckNsys(path);
  if (extension == ".et") return CheckChakra(path);
  if (extension == ".pb") return CheckBinary(text, path, context);
  if (IsProtoExtension(extension)) return CheckStructured(text, path, extension, context);
  if (const auto network = CheckNetworkFile(text, path, extension)) return *network;
  throw InputError(fmt::format("{}: got a file of no kind that stagecraft knows{}, want {}", path,
                               extension.empty() ? "" : ", a " + extension, kWanted));
}

}  // namespace stagecraft
