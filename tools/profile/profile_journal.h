// ProfileJournal: the file to which a profile writes one sample after another, so that no sample is
// lost if it is killed, and from which it resumes.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "costmodel/learned/sample.h"

namespace stagecraft {

class ProfileJournal {
 public:
  // Makes the file or, if `resumes`, continues one that exists; an incomplete record at its end,
  // left by a killed run, is cut off. The extension is .csv or .pb, and ReadSampleFile() can read
  // the file at any time. Throws InputError if the file exists but `resumes` is false, or if it is
  // not a journal.
  ProfileJournal(const std::string& path, bool resumes);

  // The samples of earlier runs.
  const std::vector<Sample>& samples() const { return samples_; }
  // Writes a sample; when this returns, the operating system has it.
  void Append(const Sample& sample);

 private:
  void Write(const std::string& bytes);

  std::string path_;
  std::vector<Sample> samples_;
  std::ofstream file_;
};

}  // namespace stagecraft
