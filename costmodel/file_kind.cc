#include "costmodel/file_kind.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

namespace stagecraft {
namespace {

// A key that only files of one kind have at their top. The first one that is found counts.
struct TellingKey {
  const char* key;
  const char* kind;
};
constexpr TellingKey kTellingKeys[] = {
    {"traceEvents", "a Chrome or Kineto trace"},
    {"baseTimeNanoseconds", "a Kineto trace"},
    {"apiVersion", "a list of Kubernetes nodes"},
    {"node_groups", "a cluster"},
    {"fabric_joins", "a cluster"},
    {"degrees", "a plan"},
    {"micro_batch", "a plan"},
    {"start_ns", "a timeline"},
    {"points", "a grid"},
    {"flags", "a grid"},
    {"events_file", "a job"},
    {"dynamics_file", "a job"},
    {"recovery", "a job"},
    {"pruning", "a dynamics file"},
    {"mixture_of_depths", "a dynamics file"},
    {"early_exit", "a dynamics file"},
    {"rates", "a file of cluster events"},
    {"trained_last", "a file of layer states"},
    {"model_type", "a Hugging Face config.json"},
    {"architectures", "a Hugging Face config.json"},
    {"zero_optimization", "a DeepSpeed configuration"},
    {"train_micro_batch_size_per_gpu", "a DeepSpeed configuration"},
    {"per_device_train_batch_size", "a file of Hugging Face's TrainingArguments"},
    {"compute_environment", "a configuration of accelerate"},
    {"fsdp_config", "a configuration of accelerate"},
    {"trainer", "a configuration of NeMo"},
};

// Messages that a user calls by other words than those of their names.
struct MessageNoun {
  std::string_view message;
  const char* noun;
};
constexpr MessageNoun kMessageNouns[] = {{"DynamicsProto", "a dynamics file"},
                                         {"JobEventsProto", "a file of cluster events"},
                                         {"LayerStatesProto", "a file of layer states"}};

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::string KindOfKeys(const std::set<std::string>& keys) {
  for (const auto& [key, kind] : kTellingKeys) {
    if (keys.contains(key)) return kind;
  }
  return "";
}

std::string KindOfJson(const nlohmann::json& root) {
  if (!root.is_object()) return "";
  if (root.contains("tool_version") && root.contains("command") && root["command"].is_string()) {
    return "what " + root["command"].get<std::string>() + " prints as JSON";
  }
  std::set<std::string> keys;
  for (const auto& [key, value] : root.items()) keys.insert(key);
  return KindOfKeys(keys);
}

std::set<std::string> TextFormatKeys(const std::string& text) {
  std::set<std::string> keys;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"' || c == '\'') {
      for (++i; i < text.size() && text[i] != c; ++i) i += text[i] == '\\' ? 1 : 0;
    } else if (c == '{' || c == '<' || c == '[') {
      ++depth;
    } else if (c == '}' || c == '>' || c == ']') {
      --depth;
    } else if (IsWord(c)) {
      const size_t begin = i;
      while (i < text.size() && IsWord(text[i])) ++i;
      const size_t next = std::min(text.find_first_not_of(" \t\r\n", i), text.size());
      const bool is_key =
          next < text.size() && std::string_view(":{<").find(text[next]) != std::string_view::npos;
      if (depth == 0 && is_key) keys.insert(text.substr(begin, i - begin));
      --i;
    }
  }
  return keys;
}

std::string NounOfMessage(const std::string& message_name) {
  for (const auto& [message, noun] : kMessageNouns) {
    if (message == message_name) return noun;
  }
  constexpr std::string_view kEnd = "Proto";
  std::string_view name = message_name;
  if (name.ends_with(kEnd)) name.remove_suffix(kEnd.size());
  std::string noun;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isupper(byte) != 0 && !noun.empty()) noun += ' ';
    noun += static_cast<char>(std::tolower(byte));
  }
  const bool begins_with_vowel =
      !noun.empty() && std::string_view("aeiou").find(noun[0]) != std::string_view::npos;
  return (begins_with_vowel ? "an " : "a ") + noun;
}

}  // namespace stagecraft
