#include "sim/workload/similar_networks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

const std::vector<std::string>& Known() {
  static const auto& known = *new std::vector<std::string>{
      "gpt2", "gpt-oss-20b", "llama-3-8b", "llama3-8b", "mixtral-8x7b", "mixtral-8x22b", "vgg16"};
  return known;
}

TEST(SimilarNetworksTest, AFamilyFindsItsNetworks) {
  EXPECT_EQ(SimilarNetworks("mixtral", Known()),
            "did you mean \"mixtral-8x22b\" or \"mixtral-8x7b\"?");
  EXPECT_EQ(SimilarNetworks("Mixtral 8x7B", Known()), "did you mean \"mixtral-8x7b\"?");
}

TEST(SimilarNetworksTest, OneLetterMayBeWrongButNoNumber) {
  EXPECT_EQ(SimilarNetworks("llama3-8c", Known()), "did you mean \"llama-3-8b\" or \"llama3-8b\"?");
  EXPECT_EQ(SimilarNetworks("lama-3-8b", Known()), "did you mean \"llama-3-8b\" or \"llama3-8b\"?");
  EXPECT_EQ(SimilarNetworks("gpt-4", Known()),
            "of gpt there are \"gpt-oss-20b\" and \"gpt2\"; `stagecraft catalogue models` lists "
            "all");
  EXPECT_EQ(SimilarNetworks("vgg19", Known()),
            "of vgg there are \"vgg16\"; `stagecraft catalogue models` lists all");
}

TEST(SimilarNetworksTest, WhatIsUnlikeAllIsToldWhereTheyAreListed) {
  for (const char* unlike : {"claude", "xx", "", "3"}) {
    EXPECT_EQ(SimilarNetworks(unlike, Known()), "`stagecraft catalogue models` lists all");
  }
}

TEST(SimilarNetworksTest, LongFamiliesAreCut) {
  std::vector<std::string> many;
  for (int i = 10; i < 30; ++i) many.push_back("net-" + std::to_string(i));
  EXPECT_EQ(SimilarNetworks("net-5", many),
            "of net there are \"net-10\", \"net-11\", \"net-12\", \"net-13\", \"net-14\", "
            "\"net-15\", \"net-16\", \"net-17\", …; `stagecraft catalogue models` lists all");
}

TEST(SimilarNetworksTest, TheCatalogueSaysItAtTheEndOfItsSentence) {
  const auto error = [](const char* name) {
    return ErrorOf([&] { LoadWorkload(name, AttentionBackend::kFlash); });
  };
  EXPECT_TRUE(error("gemma-4").ends_with(", …; `stagecraft catalogue models` lists all"))
      << error("gemma-4");
  EXPECT_EQ(error("gpt-4").find("did you mean"), std::string::npos) << error("gpt-4");
  EXPECT_TRUE(error("kimi").ends_with("did you mean \"kimi-k2\"?")) << error("kimi");
}

}  // namespace
}  // namespace stagecraft
