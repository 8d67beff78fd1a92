#include "costmodel/whole_file.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

class WholeFileTest : public testing::Test {
 protected:
  WholeFileTest() : folder_(std::filesystem::path(testing::TempDir()) / "whole_file") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string Contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int Files() const {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      files += entry.is_regular_file();
    }
    return files;
  }

  std::filesystem::path folder_;
};

// Pieces of all lengths around that of the buffer, a megabyte.
TEST_F(WholeFileTest, EveryByteIsWritten) {
  std::string all;
  {
    WholeFile file(Path("a"));
    for (const int size : {1, 1000, 1 << 20, 3, (1 << 20) - 1, (1 << 20) + 1, 2'500'000, 7}) {
      const std::string piece(static_cast<size_t>(size), static_cast<char>('a' + all.size() % 26));
      file.stream() << piece;
      file.stream().put('\n');
      all += piece + '\n';
    }
    file.Finish();
  }
  EXPECT_EQ(Contents(Path("a")), all);
  EXPECT_EQ(Files(), 1);
}

TEST_F(WholeFileTest, TheNameIsGivenAtTheEnd) {
  std::ofstream(Path("a")) << "old";
  WholeFile file(Path("a"));
  file.stream() << "new" << std::flush;
  EXPECT_EQ(Contents(Path("a")), "old");
  EXPECT_EQ(Files(), 2);
  file.Finish();
  EXPECT_EQ(Contents(Path("a")), "new");
  EXPECT_EQ(Files(), 1);
}

TEST_F(WholeFileTest, WithoutAnEndNothingIsLeft) {
  std::ofstream(Path("a")) << "old";
  try {
    WholeFile file(Path("a"));
    file.stream() << "new";
    throw std::runtime_error("stopped");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(Contents(Path("a")), "old");
  EXPECT_EQ(Files(), 1);
}

TEST_F(WholeFileTest, AFullDiskIsAnError) {
  WholeFile file("/dev/full");
  file.stream() << std::string(3'000'000, 'x');
  try {
    file.Finish();
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "/dev/full: cannot write: No space left on device");
  }
}

TEST_F(WholeFileTest, FoldersAreRefused) {
  try {
    WholeFile file(Path("no/file"));
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              Path("no/file") + ": no such directory, want a path in an existing one");
  }
  try {
    WholeFile file(folder_.string());
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              folder_.string() + ": got a directory, want a file to write");
  }
}

}  // namespace
}  // namespace stagecraft
