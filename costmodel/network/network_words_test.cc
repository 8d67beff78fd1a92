#include "costmodel/network/network_words.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/usual_links.h"

namespace stagecraft {
namespace {

struct Case {
  std::string words;
  NetworkKind kind;
  double gbit;
};

TEST(NetworkWords, NameKindAndRate) {
  const Case cases[] = {
      {"8x200G HDR InfiniBand", NetworkKind::kInfiniband, 1600},
      {"8x NDR", NetworkKind::kInfiniband, 3200},
      {"8xNDR InfiniBand", NetworkKind::kInfiniband, 3200},
      {"IB100G", NetworkKind::kInfiniband, 100},
      {"2x IB 200Gb/s", NetworkKind::kInfiniband, 200},
      {"4x100G EFA", NetworkKind::kEfa, 400},
      {"EFAv2 32x100G", NetworkKind::kEfa, 3200},
      {"RoCE 8x400Gbps", NetworkKind::kRoce, 3200},
      {"8x400GbE RoCEv2", NetworkKind::kRoce, 3200},
      {"Slingshot-11 4x200G", NetworkKind::kSlingshot, 800},
      {"100G Omni-Path", NetworkKind::kOmniPath, 100},
      {"gVNIC 100G (TCP)", NetworkKind::kCloudTcp, 100},
      {"100 Gbit/s ENA", NetworkKind::kCloudTcp, 100},
      {"25GbE", NetworkKind::kEthernet, 25},
      {"2x25GbE", NetworkKind::kEthernet, 50},
      {"100G Ethernet", NetworkKind::kEthernet, 100},
  };
  for (const Case& c : cases) {
    const std::optional<Link> link = ParseNetworkWords(c.words);
    ASSERT_TRUE(link) << c.words;
    EXPECT_EQ(link->network, c.kind) << c.words;
    EXPECT_DOUBLE_EQ(ToGbit(link->bandwidth), c.gbit) << c.words;
    EXPECT_EQ(link->latency, UsualLatency(c.kind)) << c.words;
  }
}

TEST(NetworkWords, AreNotFoundInOtherWords) {
  for (const char* words : {"NVLink3/NVSwitch", "PCIe4", "NVLink4 (4xGH200)", "InfiniBand", "200G",
                            "EFA", "unknown inter-node network", ""}) {
    EXPECT_FALSE(ParseNetworkWords(words)) << words;
  }
}

}  // namespace
}  // namespace stagecraft
