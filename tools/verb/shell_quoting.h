// Writes texts as words that shells read as they are.
#pragma once

#include <string>
#include <string_view>

namespace stagecraft {

// Returns the text in single quotes.
std::string ShellQuoted(std::string_view text);

// Returns the text as one word of a command: in quotes only if a shell would read it otherwise.
std::string ShellQuotedIfNeeded(std::string_view text);

}  // namespace stagecraft
