#include "data/embedded.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stagecraft {
namespace {

TEST(EmbeddedTest, HoldsTheCataloguesWhole) {
  EXPECT_TRUE(EmbeddedFile("gpus.textproto").starts_with("# proto-file: proto/device.proto\n"));
  EXPECT_TRUE(EmbeddedFile("nodes.textproto").ends_with("}\n"));
}

TEST(EmbeddedTest, NamesAreSortedAndUnique) {
  const auto names = EmbeddedFileNames();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(EmbeddedDeathTest, UnknownNameIsABug) {
  EXPECT_DEATH(EmbeddedFile("no-such-file"), "no embedded file");
}

}  // namespace
}  // namespace stagecraft
