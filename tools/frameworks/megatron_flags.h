// The arguments of Megatron-LM: how many values each takes, and which do not matter for the time
// and the memory of a training step.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tools/frameworks/launch_options.h"

namespace stagecraft {

// Arguments of one kind. Those without a reason are read (megatron_reader.cc).
struct MegatronFlags {
  const char* irrelevant_because;  // null: they matter
  OptionValues values;
  std::span<const char* const> names;
};

// The table was written down from memory of megatron/training/arguments.py of 2025, and from the
// names in its documentation; it need not be complete, since what is not in it is listed as
// unknown.
std::span<const MegatronFlags> MegatronFlagTable();

// How many values an argument takes; kUnknown if the table lacks it.
OptionValues MegatronValues(std::string_view name);
// Why an argument changes neither time nor memory of a step; null if it does or is not known.
const char* WhyMegatronFlagIsIrrelevant(std::string_view name);

}  // namespace stagecraft
