#include "costmodel/hash.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

// The values are the published ones of 64-bit FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv), with
// its own offset basis.
TEST(HashTest, BytesAreMixedAsInFnv) {
  EXPECT_EQ(Fnv("", 0xcbf29ce484222325ull), 0xcbf29ce484222325ull);
  EXPECT_EQ(Fnv("a", 0xcbf29ce484222325ull), 0xaf63dc4c8601ec8cull);
  EXPECT_EQ(Fnv("foobar", 0xcbf29ce484222325ull), 0x85944171f73967e8ull);
}

TEST(HashTest, WhereATextEndsCounts) {
  EXPECT_NE(Hash().Add("ab").Add("c").value(), Hash().Add("a").Add("bc").value());
  EXPECT_EQ(Hash().Add("ab").value(), Hash().Add("ab").value());
}

TEST(HashTest, ValuesStayWhatTheyAre) {
  EXPECT_EQ(Hash().value(), 1469598103934665603ull);
  EXPECT_EQ(Hash().Add(0).value(), Fnv(std::string_view("\0\0\0\0\0\0\0\0", 8)));
}

TEST(HashTest, KeysOfTablesDependOnTheOrderOfTheirParts) {
  EXPECT_NE(TableHash().Add(1).Add(2).value(), TableHash().Add(2).Add(1).value());
  EXPECT_EQ(TableHash().Add(1).Add(2).value(), TableHash().Add(1).Add(2).value());
}

}  // namespace
}  // namespace stagecraft
