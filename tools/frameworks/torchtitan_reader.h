// Reads job files of torchtitan, and launch scripts with its options.
#pragma once

#include <string>

#include "tools/frameworks/imported_training.h"
#include "tools/frameworks/shell_script.h"

namespace stagecraft {

// A .toml file, as releases before 2026 took it; any other text is a launch script whose options
// have the same names: --parallelism.tensor_parallel_degree 8. Throws an InputError that begins
// with `file`.
ImportedTraining ImportTorchtitan(const std::string& text, const std::string& file,
                                  const ShellVariables& variables, const TrainingWishes& wishes);

}  // namespace stagecraft
