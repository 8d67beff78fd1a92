// TrainingImport: `import` of a training framework's files, from flags to a plan file, a network
// file and the command that simulates them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tools/frameworks/imported_training.h"
#include "tools/frameworks/shell_script.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class TrainingImport {
 public:
  // The formats of `import` that are training frameworks, and what they read.
  struct Format {
    const char* name;
    const char* reads;
  };
  static const std::vector<Format>& Formats();
  static bool Knows(const std::string& format);

  // Registers the flags that only these formats use; the object must outlive the parse.
  void Register(Flags& flags);
  // The names of these flags.
  static const std::vector<std::string>& FlagNames();

  // What is the same for all formats of `import`.
  struct Files {
    std::vector<std::string> in;
    std::string out;      // a .yaml, .json or .textproto
    std::string cluster;  // as --cluster takes it; may be empty
    bool as_json = false;
  };
  // Reads the files, writes the plan and, if the files spell one out, the network beside it, and
  // prints what became of every option. Throws InputError; nothing is written then.
  void Run(const std::string& format, const Files& files, std::ostream& out) const;

 private:
  ShellVariables Variables() const;

  TrainingWishes wishes_;
  std::vector<std::string> variables_;  // NAME=VALUE
};

}  // namespace stagecraft
