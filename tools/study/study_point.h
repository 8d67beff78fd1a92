// StudyPoint: what a user would have typed after `simulate` or `search`.
#pragma once

#include <map>
#include <string>

#include "tools/verb/command.h"

namespace stagecraft {

struct StudyPoint {
  // Values by the long name of the flag without dashes, as they would be typed: {"tp", "8"}. The
  // value of a switch is "true" or "false". A list is one text, with commas.
  std::map<std::string, std::string> flags;

  friend bool operator==(const StudyPoint&, const StudyPoint&) = default;
};

// Returns the words of the command line: "--tp=8", in the order of the names.
Args WordsOf(const StudyPoint& point);

// Returns the words as one line that a shell takes, each as "--tp 8" and quoted where needed.
std::string CommandLineOf(const std::string& verb, const StudyPoint& point);

}  // namespace stagecraft
