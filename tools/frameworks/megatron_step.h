// Reads what the arguments of Megatron-LM say about a training step, apart from degrees and layers.
#pragma once

#include <string>

#include "tools/frameworks/imported_training.h"

namespace stagecraft {

// Completes the plan, whose degrees are known. Throws InputError as ReadMegatronOptions() does.
void ReadMegatronStep(OptionReader& reader, const std::string& file, const TrainingWishes& wishes,
                      ImportedTraining& training);

}  // namespace stagecraft
