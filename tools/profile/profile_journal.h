// ProfileJournal: the file to which a profile writes sample by sample, so that nothing is lost when
// it is killed, and from which it resumes.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "costmodel/learned/sample.h"

namespace stagecraft {

class ProfileJournal {
 public:
  // Makes the file or, if `resumes`, goes on with what is there; half a record at its end, left by
  // a killed run, is cut off. The extension is .csv or .pb, and ReadSampleFile() can read the file
  // at any time. Throws InputError if a file is there and must not be resumed, or if it is no
  // journal.
  ProfileJournal(const std::string& path, bool resumes);

  // The samples of earlier runs.
  const std::vector<Sample>& samples() const { return samples_; }
  // When this returns the record has been handed to the operating system.
  void Append(const Sample& sample);

 private:
  void Write(const std::string& bytes);

  std::string path_;
  std::vector<Sample> samples_;
  std::ofstream file_;
};

}  // namespace stagecraft
