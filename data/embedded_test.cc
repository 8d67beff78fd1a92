#include "data/embedded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace stagecraft {
namespace {

TEST(EmbeddedTest, HoldsTheCataloguesWhole) {
  EXPECT_TRUE(EmbeddedFile("gpus.textproto").starts_with("# proto-file: proto/device.proto\n"));
  EXPECT_TRUE(EmbeddedFile("nodes.textproto").ends_with("}\n"));
}

TEST(EmbeddedTest, HoldsTablesAsMessages) {
  const auto holds = [](std::string_view bytes, std::string_view id) {
    const auto contains = [&](std::string_view part) { return bytes.find(part) != bytes.npos; };
    return contains(id) && !contains("# proto-file") && !contains("id: \"");
  };
  EXPECT_TRUE(holds(EmbeddedGpus(), "h100-sxm5-80gb"));
  EXPECT_TRUE(holds(EmbeddedNodes(), "dgx-h100"));
  EXPECT_TRUE(holds(EmbeddedStacks(), "megatron"));
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
