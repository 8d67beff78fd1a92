// The options of a program and of what launches it, from the words of a command.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/frameworks/option_reader.h"
#include "tools/frameworks/shell_script.h"

namespace stagecraft {

// How many words follow an option's name.
enum class OptionValues { kNone, kOne, kSome, kUnknown };

// How many processes are started; 0: not said.
struct ProcessCount {
  int64_t nodes = 0;
  int64_t per_node = 0;
  int64_t Total() const { return nodes * per_node; }
};

struct LaunchOptions {
  std::string program;          // "pretrain_gpt.py"
  std::vector<Option> options;  // of the program, without their dashes
  ProcessCount processes;
  std::vector<OptionFate> launcher;  // what the launcher's options became
};

// Divides a command into the launcher's options and the program's. `values` says how many words
// follow an option of the program; those of unknown ones go on until the next option. A word
// without dashes that belongs to no option is an option without a name. Errors begin with `name`.
LaunchOptions ReadLaunchOptions(const LaunchCommand& command, const std::string& name,
                                const std::function<OptionValues(std::string_view)>& values);

}  // namespace stagecraft
