#include "costmodel/device_catalogue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "costmodel/check.h"
#include "costmodel/hardware_proto.h"

namespace stagecraft {
namespace {

TEST(DeviceCatalogueTest, H100IsAsItsDatasheetSays) {
  const DeviceEntry& entry = DeviceCatalogue::Embedded().Get("h100-sxm", "test");
  EXPECT_EQ(entry.device.id, "h100-sxm5-80gb");
  EXPECT_EQ(entry.device.Peak(DType::kBf16).flop_per_s(), 989e12);
  EXPECT_EQ(entry.device.Peak(DType::kFp8).flop_per_s(), 1979e12);
  EXPECT_EQ(entry.device.memory.gib(), 80);
  EXPECT_EQ(entry.device.memory_bandwidth.bytes_per_s(), 3350e9);
  EXPECT_EQ(entry.reference_node, "dgx-h100");
}

TEST(DeviceCatalogueTest, V100HasNoBf16) {
  const Device& v100 = DeviceCatalogue::Embedded().Get("V100", "test").device;
  EXPECT_EQ(v100.Peak(DType::kBf16).flop_per_s(), 0);
  EXPECT_EQ(v100.Peak(DType::kFp16).flop_per_s(), 125e12);
}

TEST(DeviceCatalogueTest, HasEveryBoardOfTheFiveGenerations) {
  for (const char* id :
       {"v100-sxm2-16gb", "v100-sxm2-32gb", "v100-pcie-16gb", "v100-pcie-32gb", "a100-sxm4-40gb",
        "a100-sxm4-80gb", "a100-pcie-40gb", "a100-pcie-80gb", "h100-sxm5-80gb", "h100-pcie-80gb",
        "h100-nvl-94gb", "h100-hbm2e-96gb", "h200-sxm5-141gb", "gh200-96gb", "gh200-144gb"}) {
    EXPECT_NE(DeviceCatalogue::Embedded().Find(id), nullptr) << id;
  }
}

TEST(DeviceCatalogueTest, NoNameIsClaimedTwice) {
  std::map<std::string, std::string> owner;
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    std::set<std::string> names(entry.aliases.begin(), entry.aliases.end());
    names.insert(entry.device.id);
    for (const std::string& name : names) {
      EXPECT_TRUE(owner.emplace(name, entry.device.id).second)
          << name << ": " << owner[name] << " and " << entry.device.id;
    }
  }
}

TEST(DeviceCatalogueTest, MultiprocessorsTimesClockGiveTheTensorPeak) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    const double computed = entry.device.multiprocessors * entry.tensor_clock_hz *
                            entry.fp16_flop_per_multiprocessor_clock;
    EXPECT_NEAR(computed / entry.device.Peak(DType::kFp16).flop_per_s(), 1, 0.02)
        << entry.device.id;
  }
}

TEST(DeviceCatalogueTest, EveryEntrySaysWhereItIsFrom) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    EXPECT_FALSE(entry.provenance.empty()) << entry.device.id;
    EXPECT_FALSE(entry.sources.empty()) << entry.device.id;
    EXPECT_FALSE(entry.sustained_source.empty()) << entry.device.id;
    EXPECT_GT(entry.device.sustained_fraction, 0.7) << entry.device.id;
  }
}

TEST(DeviceCatalogueTest, NamesMatchExactlyOrByAliasInAnyCase) {
  const DeviceCatalogue& catalogue = DeviceCatalogue::Embedded();
  EXPECT_NE(catalogue.Find("nvidia h100 80gb hbm3"), nullptr);
  for (const char* name : {"", "h100-", "h100-sxm5-80g", "100", "GH200-144GB", "h100 "}) {
    EXPECT_EQ(catalogue.Find(name), nullptr) << name;
  }
}

TEST(DeviceCatalogueTest, UnknownNameListsTheNearest) {
  try {
    DeviceCatalogue::Embedded().Get("h100-sxn", "--cluster");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("--cluster: unknown GPU \"h100-sxn\"; did you mean \"h100-sxm\""))
        << error.what();
  }
}

constexpr char kOne[] =
    "devices { device { id: 'a' generation: HOPPER multiprocessors: 1 boost_clock_hz: 1e9"
    " fp16_flop_per_s: 1e12 vector_fp32_flop_per_s: 1e12 sustained_fraction: 0.8"
    " memory_bytes: 1 memory_bandwidth_bytes_per_s: 1e9 l2_bytes: 1 } ";

TEST(DeviceCatalogueTest, RefusesANameOfTwoEntries) {
  const std::string one = std::string(kOne) + "aliases: 'A100' aliases: 'a100' }";
  EXPECT_EQ(DeviceCatalogue::Parse(one, "x", ".textproto").entries().size(), 1u);
  EXPECT_THROW(DeviceCatalogue::Parse(one + one, "x", ".textproto"), InputError);
}

TEST(HardwareProtoTest, RoundTripsEveryDevice) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    EXPECT_EQ(DeviceFromProto(ToProto(entry.device), "x"), entry.device);
  }
}

TEST(HardwareProtoTest, RefusesEveryFieldOutOfRange) {
  const DeviceProto good = ToProto(DeviceCatalogue::Embedded().Get("h100", "test").device);
  const auto refuses = [&](auto damage) {
    DeviceProto bad = good;
    damage(bad);
    EXPECT_THROW(DeviceFromProto(bad, "x"), InputError) << bad.ShortDebugString();
  };
  refuses([](DeviceProto& d) { d.clear_id(); });
  refuses([](DeviceProto& d) { d.clear_generation(); });
  refuses([](DeviceProto& d) { d.set_multiprocessors(0); });
  refuses([](DeviceProto& d) { d.set_boost_clock_hz(-1); });
  refuses([](DeviceProto& d) { d.set_fp16_flop_per_s(0); });
  refuses([](DeviceProto& d) { d.set_fp8_flop_per_s(-1); });
  refuses([](DeviceProto& d) { d.set_fp32_flop_per_s(std::nan("")); });
  refuses([](DeviceProto& d) { d.set_vector_fp32_flop_per_s(1e300); });
  refuses([](DeviceProto& d) { d.set_sustained_fraction(1.01); });
  refuses([](DeviceProto& d) { d.set_sustained_fraction(0); });
  refuses([](DeviceProto& d) { d.set_memory_bytes(-5); });
  refuses([](DeviceProto& d) { d.set_memory_bytes(std::numeric_limits<int64_t>::max()); });
  refuses([](DeviceProto& d) { d.set_memory_bandwidth_bytes_per_s(0); });
  refuses([](DeviceProto& d) { d.set_l2_bytes(0); });
}

TEST(HardwareProtoTest, LinkErrorsNameTheField) {
  LinkProto proto;
  proto.set_kind(LinkProto::NETWORK);
  proto.set_bandwidth_bytes_per_s(-1);
  try {
    LinkFromProto(proto, "cluster.textproto: links[3].link");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "cluster.textproto: links[3].link.bandwidth_bytes_per_s: got -1.0, want from 1.0 "
                 "to 1e+21");
  }
  proto.set_bandwidth_bytes_per_s(5e10);
  EXPECT_EQ(LinkFromProto(proto, "x").bandwidth.bytes_per_s(), 5e10);
  proto.set_latency_ns(-1);
  EXPECT_THROW(LinkFromProto(proto, "x"), InputError);
  proto.set_latency_ns(0);
  proto.clear_kind();
  EXPECT_THROW(LinkFromProto(proto, "x"), InputError);
}

}  // namespace
}  // namespace stagecraft
