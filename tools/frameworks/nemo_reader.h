// Reads YAML configurations of NeMo and Megatron-Bridge.
#pragma once

#include <string>

#include "tools/frameworks/imported_training.h"

namespace stagecraft {

// Groups are those of NeMo 1 (trainer, model) or of Megatron-Bridge (model, train, ddp, optimizer,
// mixed_precision, dataset ...). Throws an InputError that begins with `file`.
ImportedTraining ImportNemo(const std::string& text, const std::string& file,
                            const TrainingWishes& wishes);

}  // namespace stagecraft
