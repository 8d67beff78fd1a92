#include "tools/recorded/recording.h"

namespace stagecraft {

int32_t NameTable::Intern(std::string_view text) {
  const auto [found, is_new] =
      index_.try_emplace(std::string(text), static_cast<int32_t>(names_.size()));
  if (is_new) names_.emplace_back(text);
  return found->second;
}

}  // namespace stagecraft
