#include "tools/check/check_answers.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "costmodel/check.h"
#include "tools/frameworks/option_reader.h"
#include "tools/report/answer_page.h"
#include "tools/train/shown_run.h"
#include "tools/validation/saved_validation.h"

namespace stagecraft {
namespace {

struct ConfigKind {
  const char* of;
  const char* keys[4];  // it has any of these at its top; nullptr ends them
};
constexpr ConfigKind kConfigKinds[] = {
    {"DeepSpeed", {"zero_optimization", "train_micro_batch_size_per_gpu", "train_batch_size"}},
    {"Hugging Face's Trainer", {"per_device_train_batch_size", "per_gpu_train_batch_size"}},
    {"accelerate", {"compute_environment", "distributed_type", "fsdp_config"}},
    {"NeMo", {"trainer"}},
    {"Megatron-LM",
     {"tensor_model_parallel_size", "tensor-model-parallel-size", "micro_batch_size",
      "micro-batch-size"}},
};

bool HasAny(const nlohmann::json& root, const ConfigKind& kind) {
  return std::any_of(std::begin(kind.keys), std::end(kind.keys),
                     [&](const char* key) { return key != nullptr && root.contains(key); });
}

// Returns the framework whose configuration it is; empty if it is none.
std::string OwnerOf(const nlohmann::json& root) {
  if (!root.is_object()) return "";
  for (const ConfigKind& kind : kConfigKinds) {
    if (HasAny(root, kind)) return kind.of;
  }
  // Here "model" is a group of options; in other files it is a name.
  if (root.contains("model") && root["model"].is_object()) return "Megatron-Bridge";
  return "";
}

}  // namespace

std::optional<FileSummary> CheckTrainingConfig(const nlohmann::json& root,
                                               const std::string& path) {
  const std::string owner = OwnerOf(root);
  if (owner.empty()) return std::nullopt;
  const size_t count = FlatOptions(root, path).size();
  return FileSummary{"training configuration",
                     fmt::format("{} option{} of {}", count, count == 1 ? "" : "s", owner)};
}

std::optional<FileSummary> CheckAnswer(const nlohmann::json& root, const std::string& text,
                                       const std::string& path) {
  if (!root.is_object() || !root.contains("tool_version") || !root.contains("command")) {
    return std::nullopt;
  }
  const auto want_text = [&](const char* key) {
    if (root[key].is_string()) return root[key].get<std::string>();
    throw InputError(fmt::format("{}: {}: got {}, want text", path, key, root[key].dump()));
  };
  const std::string command = want_text("command"), version = want_text("tool_version");
  // Parsed again, because pages show keys in the order of the file.
  const auto ordered = nlohmann::ordered_json::parse(text);
  if (command == "simulate" || command == "explain" || command == "search" || command == "whatif") {
    AnswerPage(ordered, {}, path);
  } else if (command == "train" && !root.contains("runs")) {
    ShownRunFromJson(ordered, path);
  } else if (command == "validate" && !root.contains("fit")) {
    ValidationFromJson(ordered, path);
  }
  return FileSummary{"answer of a verb", fmt::format("{} of stagecraft {}", command, version)};
}

}  // namespace stagecraft
