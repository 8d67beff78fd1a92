// The help of a verb: text of 80 columns, and JSON for tests and shell completion.
#pragma once

#include <deque>
#include <iosfwd>
#include <string>
#include <vector>

#include "tools/verb/flag_entry.h"

namespace stagecraft {

struct HelpNote {
  std::string term;  // empty: a paragraph
  std::string text;
};

struct HelpPage {
  std::string verb, purpose;
  std::string first_words;  // of the line of usage
  Args examples;
  std::vector<HelpNote> notes;
  std::deque<FlagEntry> flags;  // addresses stay
};

const char* Title(FlagTopic topic);

// Whether --help leaves flags to --help-all: there are too many to show.
bool HasShortHelp(const HelpPage& page);

// With the common flags alone, or with all of them. Where there are few, all are shown.
std::string HelpText(const HelpPage& page, bool shows_all);
void PrintHelpJson(const HelpPage& page, std::ostream& out);

}  // namespace stagecraft
