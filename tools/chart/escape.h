// Text as HTML.
#pragma once

#include <string>

namespace stagecraft {

// Returns the text with & < > and quotes as entities, and control characters other than line breaks
// as "?".
std::string EscapeXml(const std::string& text);

}  // namespace stagecraft
