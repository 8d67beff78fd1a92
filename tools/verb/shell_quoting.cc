#include "tools/verb/shell_quoting.h"

#include <algorithm>
#include <cctype>

namespace stagecraft {
namespace {

bool IsPlain(unsigned char c) {
  constexpr std::string_view kPlain = "-_./,:=+@%";
  return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
}

}  // namespace

std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string ShellQuotedIfNeeded(std::string_view text) {
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), IsPlain);
  return is_plain ? std::string(text) : ShellQuoted(text);
}

}  // namespace stagecraft
