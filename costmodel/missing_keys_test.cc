#include "costmodel/missing_keys.h"

#include <gtest/gtest.h>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

TEST(MissingKeysTest, AllAreNamedWithTheirPlaces) {
  MissingKeys link;
  link.Want("kind", false);
  link.Want("bandwidth_bytes_per_s", true);
  MissingKeys node;
  node.Want("id", false);
  node.WantInside("intra", link);
  EXPECT_EQ(ErrorOf([&] { node.Check("c.yaml: node."); }),
            "c.yaml: node.id, intra.kind: got none of these, want all of them");
}

TEST(MissingKeysTest, ASingleOneIsLeftToItsReader) {
  MissingKeys link;
  EXPECT_EQ(ErrorOf([&] { link.Check("c.yaml: "); }), "");
  link.Want("kind", false);
  EXPECT_EQ(ErrorOf([&] { link.Check("c.yaml: "); }), "");
}

}  // namespace
}  // namespace stagecraft
