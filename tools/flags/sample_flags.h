// What the verbs on measured samples share: input files, outputs, progress.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "costmodel/learned/sample.h"
#include "tools/verb/command.h"

namespace stagecraft {

struct SampleInput {
  Args files;  // a folder is replaced by the tables in it
  std::vector<Sample> samples;
  int64_t passed_over = 0;  // rows whose source says that they are no measurements
};

// Throws InputError that names `flag` or the file: where a file is given twice,
// which would put rows on both sides of a split, and where there is no sample.
// `cluster`, as ParseCluster() takes it, has GPUs that the catalogue lacks, by the ids
// that samples name; or is empty. Throws too where two of one id differ.
SampleInput ReadSampleInput(const std::string& flag, const Args& paths,
                            const std::string& cluster = "");

// Whether `path` could be written, before the work that it is to hold: its folder
// exists, its extension is one of `extensions` (".pb"). Throws InputError.
void CheckOutputPath(const std::string& flag, const std::string& path, const Args& extensions);

// Writes a message as .pb or, for any other extension, as .textproto; the old file
// stays until the new one is whole. Returns its size in bytes.
size_t WriteModelFile(const google::protobuf::Message& message, const std::string& path);

// `text` as UTF-8, what is not replaced: tables hold any bytes, protos do not.
std::string ValidText(const std::string& text);

// A line on a terminal that the next one replaces; nothing where `err` is none.
class ProgressLine {
 public:
  ProgressLine(std::ostream& err, bool is_quiet);
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const std::string& line);
  void Clear();
  // Show(), or nothing to call; for as long as this lives.
  std::function<void(const std::string&)> Reporter();

 private:
  std::ostream* err_;  // nullptr: show nothing
  bool is_shown_ = false;
};

}  // namespace stagecraft
