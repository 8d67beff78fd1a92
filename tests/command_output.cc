#include "tests/command_output.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace stagecraft {

std::string OutputOf(const std::string& command) {
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> part;
  for (size_t read; (read = fread(part.data(), 1, part.size(), pipe)) > 0;) {
    output.append(part.data(), read);
  }
  EXPECT_EQ(pclose(pipe), 0) << command << "\n" << output;
  return output;
}

}  // namespace stagecraft
