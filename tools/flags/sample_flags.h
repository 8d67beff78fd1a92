// What the verbs that work on measured samples share: input files, outputs, progress.
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
  int64_t passed_over = 0;  // skipped rows: their source says that they are no measurements
};

// Reads the samples of all `paths`. Throws InputError that names `flag` or the file if a file is
// given twice, which would put the same rows on both sides of a split, or if there are no samples.
// `cluster`, as ParseCluster() takes it, may describe GPU types that the catalogue lacks, under the
// ids that samples name; it may be empty. Two such GPU types with one id must not differ.
SampleInput ReadSampleInput(const std::string& flag, const Args& paths,
                            const std::string& cluster = "");

// Checks, before the work whose result goes there, that `path` could be written. Throws InputError
// unless its folder exists and its extension is one of `extensions` (".pb").
void CheckOutputPath(const std::string& flag, const std::string& path, const Args& extensions);

// Writes a message in binary if the path ends in .pb, else in text format. An old file stays until
// the new one is complete. Returns the size of the file in bytes.
size_t WriteModelFile(const google::protobuf::Message& message, const std::string& path);

// Returns `text` with all bytes replaced that are not UTF-8: tables may hold any bytes, protos may
// not.
std::string ValidText(const std::string& text);

// ProgressLine: a line on a terminal, which the next one replaces. Shows nothing if `err` is not a
// terminal.
class ProgressLine {
 public:
  ProgressLine(std::ostream& err, bool is_quiet);
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const std::string& line);
  void Clear();
  // Returns a function that calls Show(), valid as long as this object lives; empty if nothing is
  // shown.
  std::function<void(const std::string&)> Reporter();

 private:
  std::ostream* err_;  // nullptr: show nothing
  bool is_shown_ = false;
};

}  // namespace stagecraft
