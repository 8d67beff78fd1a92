// main() of tests that start processes of ranks: these run the program that was built with the
// test.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::filesystem::path rank = std::filesystem::absolute("tools/run/stagecraft_host_rank");
  setenv("STAGECRAFT_HOST_RANK", rank.c_str(), 1);
  return RUN_ALL_TESTS();
}
