// Reads TrainingArguments of Hugging Face's Trainer, and configurations of accelerate.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/frameworks/imported_training.h"

namespace stagecraft {

// `files` are names and contents of JSON or YAML files; each is TrainingArguments or accelerate's
// configuration, and later ones replace what earlier ones say. Throws an InputError that begins
// with a file's name.
ImportedTraining ImportHuggingFace(const std::vector<std::pair<std::string, std::string>>& files,
                                   const TrainingWishes& wishes);

}  // namespace stagecraft
