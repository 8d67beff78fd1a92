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
  std::string first_words;  // what the usage line shows right after the verb
  Args examples;
  std::vector<HelpNote> notes;
  std::deque<FlagEntry> flags;  // Flag holds the address of its entry
};

const char* Title(FlagTopic topic);

// Whether the verb has so many flags that --help shows only the common ones.
bool HasShortHelp(const HelpPage& page);

// Returns the help with all flags if `shows_all` or if the verb has few; otherwise only with the
// common ones.
std::string HelpText(const HelpPage& page, bool shows_all);
void PrintHelpJson(const HelpPage& page, std::ostream& out);

}  // namespace stagecraft
