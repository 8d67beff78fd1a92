#include "sim/workload/layer_parts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "sim/workload/networks/classics.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {
namespace {

// Embedding, four blocks and a head.
Workload Llama() {
  const DecoderConfig config = SizedDecoder(
      "llama", {.layers = 4, .hidden = 64, .heads = 4, .vocab = 100, .max_sequence = 128});
  return BuildDecoder(config, AttentionBackend::kFlash, "llama");
}

TEST(LayerPartsTest, PartsAreRolesAndKindsOfLayers) {
  const Workload net = BuildClassic("yolov3", AttentionBackend::kFlash).value();
  EXPECT_EQ(PartNames(net), (std::vector<std::string>{"embedding", "blocks", "head", "stem", "down",
                                                      "residual", "scale"}));
  EXPECT_EQ(FindPart(net, "embedding"), std::vector<int>{0});
  EXPECT_EQ(FindPart(net, "down").size(), 5u);
  EXPECT_EQ(FindPart(net, "residual").size(), 23u);
  EXPECT_EQ(FindPart(net, "blocks").size(), 5u + 23 + 3);
  EXPECT_EQ(FindPart(net, "head"), std::vector<int>{net.layer_count() - 1});
  EXPECT_TRUE(FindPart(net, "neck").empty());
}

TEST(LayerPartsTest, RangesAndNamesAreAddedUp) {
  using Layers = std::vector<bool>;
  EXPECT_EQ(LayersOfParts("key", "1-2,head", Llama()), (Layers{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(LayersOfParts("key", "3", Llama()), (Layers{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(LayersOfParts("key", "blocks,2-3", Llama()), (Layers{0, 1, 1, 1, 1, 0}));
}

TEST(LayerPartsTest, ErrorsBeginWithTheKey) {
  EXPECT_EQ(ErrorOf([] { LayersOfParts("key", "0-6", Llama()); }),
            "key: got layers \"0-6\", want ascending ones from 0 to 5, of llama");
  EXPECT_EQ(ErrorOf([] { LayersOfParts("key", "", Llama()); }),
            "key: got \"\", want layers such as 0-11, or parts of llama: embedding, blocks, head, "
            "block");
}

}  // namespace
}  // namespace stagecraft
