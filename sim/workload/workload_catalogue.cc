#include "sim/workload/workload_catalogue.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "data/embedded.h"
#include "proto/workload.pb.h"
#include "sim/workload/networks/classics.h"
#include "sim/workload/readers/graph_txt.h"
#include "sim/workload/readers/hf_config.h"
#include "sim/workload/readers/onnx_graph.h"
#include "sim/workload/similar_networks.h"
#include "sim/workload/workload_proto.h"

namespace stagecraft {
namespace {

constexpr std::string_view kFolder = "workloads/";
constexpr std::string_view kExtension = ".json";
constexpr std::string_view kShapePrefix = "megatron:";
constexpr int64_t kMegatronVocabulary = 51'200;  // SC21, section 5
constexpr int64_t kMegatronSequence = 2'048;

struct NamedConfig {
  std::string name;
  NetworkConfig config;
};

bool SameName(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view PresetText(const std::string& preset) {
  return EmbeddedFile(std::string(kFolder) + preset + std::string(kExtension));
}

struct Alias {
  std::string name;
  std::string preset;
};

// The other names that the files of the presets list. They are read once, at the first call.
const std::vector<Alias>& Aliases() {
  static const std::vector<Alias> aliases = [] {
    std::vector<Alias> listed;
    for (const std::string& preset : WorkloadNames()) {
      const auto json = nlohmann::json::parse(PresetText(preset));
      for (auto& name : json.value("aliases", std::vector<std::string>())) {
        listed.push_back({std::move(name), preset});
      }
    }
    return listed;
  }();
  return aliases;
}

// Returns the preset of this name or alias.
std::optional<std::string> FindPreset(const std::string& wanted) {
  for (const std::string& preset : WorkloadNames()) {
    if (SameName(preset, wanted)) return preset;
  }
  for (const Alias& alias : Aliases()) {
    if (SameName(alias.name, wanted)) return alias.preset;
  }
  return std::nullopt;
}

NamedConfig ParseShape(const std::string& shape) {
  std::vector<int64_t> sizes;
  for (const std::string_view part :
       SplitAt(std::string_view(shape).substr(kShapePrefix.size()), 'x')) {
    sizes.push_back(ParseNumber<int64_t>(part).value_or(0));
  }
  if (sizes.size() != 3 || *std::min_element(sizes.begin(), sizes.end()) < 1) {
    throw InputError("workload: got '" + shape +
                     "', want megatron:LAYERSxHIDDENxHEADS such as megatron:24x2304x24");
  }
  DecoderConfig config = DecoderOfFamily("gpt");
  config.layers = sizes[0];
  config.hidden = sizes[1];
  config.heads = sizes[2];
  config.vocab = kMegatronVocabulary;
  config.max_sequence = kMegatronSequence;
  config = Completed(config);
  const std::vector<std::string> errors = FindErrors(config);
  if (!errors.empty()) throw InputError(shape + ": " + errors.front());
  return {shape, config};
}

NamedConfig Load(const std::string& name_or_path) {
  if (name_or_path.starts_with(kShapePrefix)) return ParseShape(name_or_path);
  if (const std::optional<std::string> preset = FindPreset(name_or_path)) {
    return {*preset, ParseHuggingFaceNetwork(std::string(PresetText(*preset)), *preset)};
  }
  std::error_code error;
  std::filesystem::path path = name_or_path;
  if (std::filesystem::is_directory(path, error)) path /= "config.json";
  const bool looks_like_path = name_or_path.ends_with(kExtension);
  if (looks_like_path || std::filesystem::exists(path, error) || path != name_or_path) {
    return {name_or_path, ParseHuggingFaceNetwork(ReadFile(path.string()), path.string())};
  }
  std::vector<std::string> known = WorkloadNames();
  for (const std::string& classic : ClassicNames()) known.push_back(classic);
  for (const Alias& alias : Aliases()) known.push_back(alias.name);
  throw InputError("workload: got '" + name_or_path +
                   "', want a preset, megatron:LAYERSxHIDDENxHEADS, a config.json or a directory "
                   "that holds one; " +
                   SimilarNetworks(name_or_path, known));
}

// Returns whether it is a file in a format of our own. Its extension says so; only .json may also
// be that of a config.json, so there the key "kinds" decides.
bool IsWorkloadProto(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension != kExtension) return IsProtoExtension(extension);
  const auto json = nlohmann::json::parse(ReadFile(path), nullptr, /*allow_exceptions=*/false);
  return json.is_object() && json.contains("kinds");
}

}  // namespace

NetworkConfig LoadNetworkConfig(const std::string& name_or_path) {
  return Load(name_or_path).config;
}

DecoderConfig LoadDecoderConfig(const std::string& name_or_path) {
  NetworkConfig config = Load(name_or_path).config;
  if (DecoderConfig* decoder = std::get_if<DecoderConfig>(&config)) return std::move(*decoder);
  throw InputError("workload: got '" + name_or_path + "', a " + NetworkFamilyName(config) +
                   ", want a decoder");
}

Workload LoadWorkload(const std::string& name_or_path, AttentionBackend attention) {
  if (std::optional<Workload> classic = BuildClassic(name_or_path, attention)) {
    return *std::move(classic);
  }
  if (name_or_path.ends_with(".onnx")) return ReadOnnx(name_or_path);
  if (name_or_path.ends_with(".txt")) {
    return ToWorkload(ReadProfiledGraph(name_or_path), name_or_path);
  }
  if (IsWorkloadProto(name_or_path) && !FindPreset(name_or_path)) {
    WorkloadProto proto;
    ReadProtoFile(name_or_path, &proto);
    return WorkloadFromProto(proto, name_or_path);
  }
  const NamedConfig named = Load(name_or_path);
  return BuildNetwork(named.config, attention, named.name);
}

std::vector<std::string> WorkloadNames() {
  std::vector<std::string> names;
  for (const std::string_view file : EmbeddedFileNames()) {
    if (!file.starts_with(kFolder) || !file.ends_with(kExtension)) continue;
    const size_t length = file.size() - kFolder.size() - kExtension.size();
    names.emplace_back(file.substr(kFolder.size(), length));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stagecraft
