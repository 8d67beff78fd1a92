#include "costmodel/nccl_proto.h"

#include <gtest/gtest.h>

#include "costmodel/check.h"
#include "data/embedded.h"

namespace stagecraft {
namespace {

std::string Text() { return std::string(EmbeddedFile("nccl_2.28.textproto")); }

std::string ErrorOf(const std::string& text) {
  try {
    ParseNcclTuning(text, "nccl.textproto");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(NcclProtoTest, TheShippedFileEqualsTheDefaults) {
  EXPECT_EQ(EmbeddedNcclTuning(), NcclTuning());
}

TEST(NcclProtoTest, EveryGenerationHasARow) {
  for (int row = 0; row < kNcclGenerationCount; ++row) {
    EXPECT_EQ(NcclRow(kNcclGenerations[row]), row);
  }
  EXPECT_EQ(NcclRow(Generation::kTuring), NcclRow(Generation::kVolta));
  EXPECT_EQ(NcclRow(Generation::kAda), NcclRow(Generation::kAmpere));
  EXPECT_EQ(NcclRow(Generation::kCdna3), NcclRow(Generation::kAmpere));
}

TEST(NcclProtoTest, AMissingFieldIsNamed) {
  EXPECT_EQ(ErrorOf("version: \"x\""),
            "nccl.textproto: ring.base_us.ll: got 0, want from 0.001 to 1e+06");
}

TEST(NcclProtoTest, AGenerationTwiceIsRefused) {
  std::string text = Text();
  text.replace(text.find("\"volta\""), 7, "\"pascal\"");
  EXPECT_NE(ErrorOf(text).find("generation[1].generation: got \"pascal\""), std::string::npos)
      << ErrorOf(text);
}

}  // namespace
}  // namespace stagecraft
