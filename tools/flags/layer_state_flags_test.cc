#include "tools/flags/layer_state_flags.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/error_of.h"
#include "sim/workload/networks/classics.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {
namespace {

// Embedding, six blocks and a head, which share no weights.
Workload Llama() {
  const DecoderConfig config = SizedDecoder(
      "llama", {.layers = 6, .hidden = 64, .heads = 4, .vocab = 100, .max_sequence = 128});
  return BuildDecoder(config, AttentionBackend::kFlash, "llama");
}

// "FF..": F for a frozen layer.
std::string Frozen(const std::string& parts, Workload workload) {
  ApplyStateFlags("", parts, workload);
  std::string text;
  for (int l = 0; l < workload.layer_count(); ++l) text += workload.layer(l).is_frozen ? 'F' : '.';
  return text;
}

std::string ErrorOfParts(const std::string& parts) {
  return ErrorOf([&] { Frozen(parts, Llama()); });
}

TEST(FrozenPartsTest, TakesRangesAndNames) {
  EXPECT_EQ(Frozen("", Llama()), "........");
  EXPECT_EQ(Frozen("0-3", Llama()), "FFFF....");
  EXPECT_EQ(Frozen("2", Llama()), "..F.....");
  EXPECT_EQ(Frozen("1-2,4,6-6", Llama()), ".FF.F.F.");
  EXPECT_EQ(Frozen("embedding,head", Llama()), "F......F");
  EXPECT_EQ(Frozen("blocks", Llama()), ".FFFFFF.");
  EXPECT_EQ(Frozen("block", Llama()), ".FFFFFF.");
  EXPECT_EQ(Frozen("embedding,1-2", Llama()), "FFF.....");
}

TEST(FrozenPartsTest, TakesTheNamesOfSidesAndBackbones) {
  const Workload net = BuildClassic("transformer-base", AttentionBackend::kFlash).value();
  EXPECT_EQ(Frozen("encoder", net), ".FFFFFF........");
  const Workload yolo = BuildClassic("yolov3", AttentionBackend::kFlash).value();
  EXPECT_EQ(Frozen("stem,down,residual", yolo), std::string(29, 'F') + "....");
}

TEST(FrozenPartsTest, RefusesWhatIsNoPart) {
  EXPECT_EQ(ErrorOfParts("backbone"),
            "--frozen: got \"backbone\", want layers such as 0-11, or parts of llama: embedding, "
            "blocks, head, block");
  for (const char* text : {",", "0,", "0-", "1-2-3", "1 2", "Embedding", "99999999999"}) {
    EXPECT_TRUE(ErrorOfParts(text).starts_with("--frozen: got \""))
        << text << ": " << ErrorOfParts(text);
  }
  for (const char* text : {"8", "0-8", "3-2", "-1"}) {
    EXPECT_EQ(ErrorOfParts(text), "--frozen: got layers \"" + std::string(text) +
                                      "\", want ascending ones from 0 to 7, of llama");
  }
  EXPECT_EQ(ErrorOfParts("0-7"),
            "--frozen: got all 8 layers of llama, want one or more that are trained");
}

}  // namespace
}  // namespace stagecraft
