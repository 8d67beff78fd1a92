// Structured files that are not protobuf messages of this project: the configurations of training
// frameworks that `import` reads, and what verbs print as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tools/check/check_file.h"

namespace stagecraft {

// Recognises a configuration of DeepSpeed, accelerate, NeMo or Megatron-Bridge, the arguments of
// Megatron-LM and Hugging Face's TrainingArguments by their keys; nullopt for other files. Throws
// an InputError that begins with `path` for one whose options cannot be told apart.
std::optional<FileSummary> CheckTrainingConfig(const nlohmann::json& root, const std::string& path);

// Recognises what a verb printed with --json; nullopt for other files. Throws an InputError that
// begins with `path` for one from which `report` cannot make a page.
std::optional<FileSummary> CheckAnswer(const nlohmann::json& root, const std::string& text,
                                       const std::string& path);

}  // namespace stagecraft
