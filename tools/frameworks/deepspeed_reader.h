// Reads DeepSpeed's configuration.
#pragma once

#include <string>

#include "tools/frameworks/imported_training.h"

namespace stagecraft {

// A JSON file. It says neither the network nor the sequence, which `wishes` must. Throws an
// InputError that begins with `file`.
ImportedTraining ImportDeepspeed(const std::string& text, const std::string& file,
                                 const TrainingWishes& wishes);

// Reads options that may come from a part of another file, under their names in the JSON. The
// plan's precision, micro-batch and global batch may be set already; `training` has the number of
// processes.
void ReadDeepspeedOptions(OptionReader& reader, const std::string& file,
                          const TrainingWishes& wishes, ImportedTraining& training);

// Returns what became of all options.
OptionReport DeepspeedReport(const OptionReader& reader);

}  // namespace stagecraft
