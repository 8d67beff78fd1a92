// RunWords(): runs command lines in the process of a test, for tests that start processes of ranks.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "runtime/scratch_folder.h"
#include "tools/verb/command.h"

namespace stagecraft {

struct CommandResult {
  int code = 0;
  std::string out, err;
};

// Runs a command line without input. Its words are separated by white space.
inline CommandResult RunWords(const std::string& text) {
  std::istringstream words(text), in;
  Args args;
  for (std::string word; words >> word;) args.push_back(word);
  std::ostringstream out, err;
  CommandResult result;
  result.code = RunCommandLine(args, in, out, err);
  result.out = out.str();
  result.err = err.str();
  return result;
}

// A config.json of a network of 66,000 parameters, whose steps and checkpoints take milliseconds.
class TinyNetworkFile {
 public:
  TinyNetworkFile() : folder_(testing::TempDir()), path_(folder_.File("config.json")) {
    std::ofstream(path_) << R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4,
                                "n_positions": 64, "vocab_size": 256})";
  }
  const std::string& path() const { return path_; }

 private:
  const ScratchFolder folder_;
  const std::string path_;
};

// Returns the path of that file, which exists from the first call to the end of the program.
inline const std::string& TinyNetwork() {
  static const TinyNetworkFile file;
  return file.path();
}

}  // namespace stagecraft
