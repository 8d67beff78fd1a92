// Reads the arguments of Megatron-LM, from a launch script or a YAML file.
#pragma once

#include <string>

#include "tools/frameworks/imported_training.h"
#include "tools/frameworks/shell_script.h"

namespace stagecraft {

// A .yaml or .yml file of arguments, with '_' or '-' in their names and in groups or not; any other
// text is a launch script. Throws an InputError that begins with `file`.
ImportedTraining ImportMegatron(const std::string& text, const std::string& file,
                                const ShellVariables& variables, const TrainingWishes& wishes);

// Reads arguments that may come from elsewhere, too, under their names in Megatron-LM and without
// dashes. `training` has the number of processes; network, plan and notes are added to it.
void ReadMegatronOptions(OptionReader& reader, const std::string& file,
                         const TrainingWishes& wishes, ImportedTraining& training);

// Returns what became of all arguments.
OptionReport MegatronReport(const OptionReader& reader);

}  // namespace stagecraft
