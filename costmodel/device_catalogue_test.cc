#include "costmodel/device_catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/error_of.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/shared_csv.h"

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

TEST(DeviceCatalogueTest, NoGenerationBeforeAmpereHasBf16) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    const Generation generation = entry.device.generation;
    if (generation == Generation::kKepler || generation == Generation::kPascal ||
        generation == Generation::kVolta || generation == Generation::kTuring) {
      EXPECT_EQ(entry.device.Peak(DType::kBf16), FlopRate()) << entry.device.id;
      EXPECT_EQ(entry.device.Peak(DType::kTf32), FlopRate()) << entry.device.id;
      EXPECT_EQ(entry.device.Peak(DType::kFp8), FlopRate()) << entry.device.id;
    }
  }
}

TEST(DeviceCatalogueTest, B300IsNotFoundInGb300) {
  EXPECT_EQ(DeviceCatalogue::Embedded().Get("B300", "test").device.id, "b300-sxm-288gb");
  EXPECT_EQ(DeviceCatalogue::Embedded().Get("GB300", "test").device.id, "gb300-288gb");
  EXPECT_EQ(DeviceCatalogue::Embedded().Get("RTX 2080", "test").device.id, "rtx2080-8gb");
  EXPECT_EQ(DeviceCatalogue::Embedded().Get("RTX-2080", "test").device.id, "rtx2080ti-11gb");
}

std::vector<std::string> SplitAliases(const std::string& text) {
  std::vector<std::string> aliases;
  std::stringstream stream(text);
  for (std::string alias; std::getline(stream, alias, ';');) aliases.push_back(alias);
  return aliases;
}

TEST(DeviceCatalogueTest, HasEveryGpuOfTheSharedCatalogues) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  std::set<std::string> others;
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    others.insert(entry.device.id);
  }
  for (const char* file : {"gpu_catalogue.csv", "extra_gpus.csv"}) {
    const std::vector<CsvRow> rows = ReadSharedCatalogue(file);
    EXPECT_FALSE(rows.empty()) << file;
    for (const CsvRow& row : rows) {
      const DeviceEntry* entry = DeviceCatalogue::Embedded().Find(row.at("gpu_id"));
      ASSERT_NE(entry, nullptr) << row.at("gpu_id");
      EXPECT_EQ(entry->device.id, row.at("gpu_id"));
      EXPECT_EQ(entry->device.name, row.at("display_name"));
      for (const std::string& alias : SplitAliases(row.at("aliases"))) {
        EXPECT_EQ(DeviceCatalogue::Embedded().Find(alias), entry) << alias;
      }
      others.erase(entry->device.id);
    }
  }
  EXPECT_EQ(others, std::set<std::string>{"rtxa5000-24gb"});
}

TEST(DeviceCatalogueTest, NumbersAreThoseOfTheSharedCatalogue) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  for (const CsvRow& row : ReadSharedCatalogue("gpu_catalogue.csv")) {
    const DeviceEntry& entry = DeviceCatalogue::Embedded().Get(row.at("gpu_id"), "test");
    const Device& device = entry.device;
    const auto equals = [&](double ours, const char* column, double unit) {
      const double theirs = Number(row, column) * unit;
      EXPECT_NEAR(ours, theirs, 1e-9 * theirs) << device.id << " " << column;
    };
    equals(device.Peak(DType::kFp32).flop_per_s(), "fp32_tflops", 1e12);
    equals(device.Peak(DType::kTf32).flop_per_s(), "tf32_tflops", 1e12);
    equals(device.Peak(DType::kFp16).flop_per_s(), "fp16_tflops", 1e12);
    equals(device.Peak(DType::kBf16).flop_per_s(), "bf16_tflops", 1e12);
    equals(device.Peak(DType::kFp8).flop_per_s(), "fp8_tflops", 1e12);
    // Vendors other than NVIDIA have 4-bit formats of their own.
    if (row.at("vendor") == "NVIDIA") {
      equals(device.Peak(DType::kNvfp4).flop_per_s(), "fp4_tflops", 1e12);
    }
    equals(device.memory_bandwidth.bytes_per_s(), "memory_gbytes_per_s", 1e9);
    equals(entry.tensor_clock_hz, "tensor_clock_mhz", 1e6);
    equals(entry.fp16_flop_per_multiprocessor_clock, "flop_per_sm_clk_fp16tensor", 1);
    equals(entry.fp32_flop_per_multiprocessor_clock, "flop_per_sm_clk_fp32", 1);
    equals(entry.pcie_generation, "pcie_gen", 1);
    equals(entry.scale_up.bytes_per_s(), "scaleup_gbytes_per_s_per_dir", 1e9);
    // Where the table names no node, ours may be of another origin.
    const std::string& node = row.at("reference_node");
    EXPECT_TRUE(node.empty() || entry.reference_node == node) << device.id;
    // Fields that the table leaves empty have values in our file, which says so.
    if (!row.at("l2_mib").empty()) equals(device.l2.gib() * 1024, "l2_mib", 1);
    if (row.at("sm_or_cu_count").empty()) continue;
    equals(device.multiprocessors, "sm_or_cu_count", 1);
    equals(device.boost_clock_hz, "boost_clock_mhz", 1e6);
    EXPECT_EQ(device.memory.gib(), Number(row, "memory_gb")) << device.id;
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
  std::set<std::string> unchecked;
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    const double computed = entry.device.multiprocessors * entry.tensor_clock_hz *
                            entry.fp16_flop_per_multiprocessor_clock;
    if (computed == 0) {
      unchecked.insert(entry.device.id);
      continue;
    }
    EXPECT_NEAR(computed / entry.device.Peak(DType::kFp16).flop_per_s(), 1, 0.02)
        << entry.device.id;
  }
  EXPECT_EQ(unchecked,
            (std::set<std::string>{"a10g-24gb", "b300-sxm-288gb", "gaudi2-96gb", "gaudi3-128gb",
                                   "gb300-288gb", "h20-96gb", "k80-12gb"}));
}

TEST(DeviceCatalogueTest, MultiprocessorsTimesClockGiveTheVectorPeak) {
  std::set<std::string> unchecked;
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    const double computed = entry.device.multiprocessors * entry.device.boost_clock_hz *
                            entry.fp32_flop_per_multiprocessor_clock;
    if (computed == 0) {
      unchecked.insert(entry.device.id);
      continue;
    }
    // The GB200 is quoted with 80 TFLOP/s, but its clock gives 78.1.
    const double tolerance = entry.device.id == "gb200-186gb" ? 0.025 : 0.02;
    EXPECT_NEAR(computed / entry.device.vector_peak.flop_per_s(), 1, tolerance) << entry.device.id;
  }
  EXPECT_EQ(unchecked, (std::set<std::string>{"b300-sxm-288gb", "gaudi2-96gb", "gaudi3-128gb",
                                              "gb300-288gb", "h20-96gb"}));
}

// Sparsity would double one rate but not the others: in a dense table, each rate is at most twice
// the next.
TEST(DeviceCatalogueTest, PeaksAreDense) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    const auto peak = [&](DType dtype) { return entry.device.Peak(dtype).flop_per_s(); };
    const double half = std::max(peak(DType::kFp16), peak(DType::kBf16));
    EXPECT_LE(peak(DType::kTf32), 0.51 * half) << entry.device.id;
    EXPECT_LE(peak(DType::kFp8), 2.03 * half) << entry.device.id;
    // Blackwell Ultra has half as many 4-bit units again.
    EXPECT_LE(peak(DType::kNvfp4), 3.2 * peak(DType::kFp8)) << entry.device.id;
    if (peak(DType::kBf16) > 0 && peak(DType::kFp16) > 0) {
      EXPECT_EQ(peak(DType::kBf16), peak(DType::kFp16)) << entry.device.id;
    }
  }
}

TEST(DeviceCatalogueTest, EveryEntrySaysWhereItIsFrom) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    EXPECT_FALSE(entry.provenance.empty()) << entry.device.id;
    EXPECT_FALSE(entry.sources.empty()) << entry.device.id;
    EXPECT_EQ(entry.sustained_source.empty(), entry.device.sustained_fraction == 0)
        << entry.device.id;
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
    " memory_bytes: 1000000000 memory_bandwidth_bytes_per_s: 1e10 l2_bytes: 100000 power_w: 500 } ";

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
  refuses([](DeviceProto& d) { d.set_fp16_flop_per_s(-1); });
  refuses([](DeviceProto& d) {
    d.clear_fp32_flop_per_s();
    d.clear_tf32_flop_per_s();
    d.clear_fp16_flop_per_s();
    d.clear_bf16_flop_per_s();
    d.clear_fp8_flop_per_s();
  });
  refuses([](DeviceProto& d) { d.set_generation(static_cast<DeviceProto::Generation>(99)); });
  refuses([](DeviceProto& d) { d.set_fp8_flop_per_s(-1); });
  refuses([](DeviceProto& d) { d.set_fp32_flop_per_s(std::nan("")); });
  refuses([](DeviceProto& d) { d.set_vector_fp32_flop_per_s(1e300); });
  refuses([](DeviceProto& d) { d.set_sustained_fraction(1.01); });
  refuses([](DeviceProto& d) { d.set_sustained_fraction(-0.1); });
  refuses([](DeviceProto& d) { d.clear_power_w(); });
  refuses([](DeviceProto& d) { d.set_power_w(70'000); });
  refuses([](DeviceProto& d) { d.set_memory_kind(static_cast<DeviceProto::MemoryKind>(9)); });
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
    EXPECT_STREQ(
        error.what(),
        "cluster.textproto: links[3].link.bandwidth_bytes_per_s: got -1 bytes/s, want from "
        "1e6 to 1e13");
  }
  proto.set_bandwidth_bytes_per_s(5e10);
  EXPECT_EQ(LinkFromProto(proto, "x").bandwidth.bytes_per_s(), 5e10);
  proto.set_latency_ns(-1);
  EXPECT_THROW(LinkFromProto(proto, "x"), InputError);
  proto.set_latency_ns(0);
  proto.clear_kind();
  EXPECT_THROW(LinkFromProto(proto, "x"), InputError);
}

// These are numbers that datasheets print in GB/s, TFLOP/s, MHz, GB and MB, without the power of
// ten.
TEST(HardwareProtoTest, ANumberInAnotherUnitIsRefusedWithWhatWasMeant) {
  const DeviceProto good = ToProto(DeviceCatalogue::Embedded().Get("h100", "test").device);
  const auto error = [&](const std::string& field, double value) {
    DeviceProto bad = good;
    const auto* descriptor = DeviceProto::descriptor()->FindFieldByName(field);
    if (descriptor->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE) {
      bad.GetReflection()->SetDouble(&bad, descriptor, value);
    } else {
      bad.GetReflection()->SetInt64(&bad, descriptor, static_cast<int64_t>(value));
    }
    try {
      DeviceFromProto(bad, "x.yaml: d");
    } catch (const InputError& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  EXPECT_EQ(error("memory_bandwidth_bytes_per_s", 3350),
            "x.yaml: d.memory_bandwidth_bytes_per_s: got 3350 bytes/s, want from 1e8 to 1e14: did "
            "you mean 3350e9?");
  const std::vector<std::tuple<const char*, double, const char*>> cases = {
      {"memory_bandwidth_bytes_per_s", 3.35, "3.35e12?"},
      {"bf16_flop_per_s", 989, "989e12?"},
      {"fp32_flop_per_s", 67, "67e12?"},
      {"fp8_flop_per_s", 1979, "1979e12?"},
      {"vector_fp32_flop_per_s", 66908, "66908e12?"},
      {"boost_clock_hz", 1830, "1830e6?"},
      {"boost_clock_hz", 1.83, "1.83e9?"},
      {"memory_bytes", 80, "80e9?"},
      {"memory_bytes", 81920, "81920e6?"},
      {"l2_bytes", 50, "50e6?"},
  };
  for (const auto& [field, value, meant] : cases) {
    const std::string text = error(field, value);
    EXPECT_TRUE(text.ends_with(std::string(": did you mean ") + meant)) << field << ": " << text;
  }
  // A number far beyond any unit is refused without a guess.
  for (const char* field : {"bf16_flop_per_s", "memory_bandwidth_bytes_per_s", "boost_clock_hz"}) {
    for (const double value : {-1.0, 1e-300, 1e19, 1e300}) {
      const std::string text = error(field, value);
      EXPECT_NE(text, "") << field << " " << value;
      EXPECT_EQ(text.find("did you mean"), std::string::npos) << text;
    }
  }
}

TEST(DeviceCatalogueTest, UsableMemoryIsBelowTheNominalAndHasASource) {
  int below = 0;
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    EXPECT_LE(entry.usable_memory, entry.device.memory) << entry.device.id;
    EXPECT_GE(entry.usable_memory.gib(), 0.92 * entry.device.memory.gib()) << entry.device.id;
    EXPECT_EQ(entry.usable_memory_source.empty(), entry.usable_memory == entry.device.memory);
    below += entry.usable_memory < entry.device.memory;
  }
  EXPECT_GE(below, 20);
  const auto mib = [](const char* gpu) {
    return DeviceCatalogue::Embedded().Get(gpu, "test").usable_memory.count() >> 20;
  };
  EXPECT_EQ(mib("t4"), 15360);  // ECC bits take a sixteenth of GDDR memory
  EXPECT_EQ(mib("h100-sxm"), 81559);
  EXPECT_EQ(mib("a100-sxm4-80gb"), 81920);  // all of it
}

TEST(DeviceCatalogueTest, ABoardWithAnotherMemoryHasAllOfIt) {
  Device device = DeviceCatalogue::Embedded().Get("h100-sxm", "test").device;
  EXPECT_EQ(UsableMemory(device).count(), int64_t{81559} << 20);
  device.memory = Bytes(64'000'000'000);
  EXPECT_EQ(UsableMemory(device), device.memory);
  device.id = "my-board";
  EXPECT_EQ(UsableMemory(device), device.memory);
}

TEST(DeviceCatalogueTest, UsableMemoryIsRefusedWithoutASourceAndAboveTheNominal) {
  const auto error = [](int64_t usable, const char* source) {
    DeviceCatalogueProto proto;
    DeviceEntryProto& entry = *proto.add_devices();
    *entry.mutable_device() = ToProto(DeviceCatalogue::Embedded().entries()[0].device);  // 16 GiB
    entry.set_usable_memory_bytes(usable);
    entry.set_usable_memory_source(source);
    return ErrorOf(
        [&] { DeviceCatalogue::Parse(proto.DebugString(), "gpus.textproto", ".textproto"); });
  };
  const std::string place = "gpus.textproto: devices[0].";
  EXPECT_EQ(error(16'000'000'000, "nvidia-smi"), "");
  EXPECT_EQ(error(16'000'000'000, ""), place +
                                           "usable_memory_source: got none, want it if and only if "
                                           "usable_memory_bytes is given");
  EXPECT_EQ(error(0, "nvidia-smi"), place +
                                        "usable_memory_source: got one without "
                                        "usable_memory_bytes, want it if and only if "
                                        "usable_memory_bytes is given");
  EXPECT_EQ(error(18'000'000'000, "x"), place +
                                            "usable_memory_bytes: got 18000000000, want 100000000 "
                                            "to the 17179869184 of device.memory_bytes");
  EXPECT_EQ(error(-1, "x"), place +
                                "usable_memory_bytes: got -1, want 100000000 to the "
                                "17179869184 of device.memory_bytes");
}

TEST(HardwareProtoTest, AHostsDispatchIsKeptWhereItIsStated) {
  Device device = DeviceCatalogue::Embedded().entries()[0].device;
  EXPECT_FALSE(ToProto(device).has_host_dispatch_ns());
  EXPECT_FALSE(ToProto(device).has_convolution_share());
  for (const Duration dispatch : {0_us, 30_us}) {
    device.host_dispatch = dispatch;
    EXPECT_EQ(DeviceFromProto(ToProto(device), "x"), device);
  }
  DeviceProto proto = ToProto(device);
  proto.set_host_dispatch_ns(-1);
  EXPECT_EQ(ErrorOf([&] { DeviceFromProto(proto, "x"); }),
            "x: host_dispatch_ns: got -1 ns, want from 0 to 1e8");
}

TEST(HardwareProtoTest, AGpuComputesWithoutPausesUnlessItsFileSaysOtherwise) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    EXPECT_TRUE(entry.device.is_busy) << entry.device.id;
    EXPECT_EQ(entry.device.clock_share, 1) << entry.device.id;
    const Device sampled = AsSampled(entry.device);
    EXPECT_EQ(DeviceFromProto(ToProto(sampled), "x"), sampled) << entry.device.id;
  }
}

TEST(HardwareProtoTest, ANetworkHasTheLatencyOfItsKindUnlessItStatesOne) {
  LinkProto proto;
  proto.set_kind(LinkProto::NETWORK);
  proto.set_bandwidth_gbit_per_s(400);
  EXPECT_EQ(LinkFromProto(proto, "x").network, NetworkKind::kUnstated);
  EXPECT_EQ(LinkFromProto(proto, "x").latency, Duration());
  proto.set_network(LinkProto::EFA);
  EXPECT_EQ(LinkFromProto(proto, "x").network, NetworkKind::kEfa);
  EXPECT_EQ(LinkFromProto(proto, "x").latency, UsualLatency(NetworkKind::kEfa));
  proto.set_latency_ns(0);
  EXPECT_EQ(LinkFromProto(proto, "x").latency, Duration());
  EXPECT_EQ(ToProto(LinkFromProto(proto, "x")).network(), LinkProto::EFA);
  proto.set_kind(LinkProto::PCIE);
  EXPECT_EQ(ErrorOf([&] { LinkFromProto(proto, "x"); }),
            "x: network: got EFA, want none for a link of kind PCIE");
}

TEST(HardwareProtoTest, ALinkTakesOneBandwidthInAnyOfThreeUnits) {
  LinkProto proto;
  proto.set_kind(LinkProto::NETWORK);
  proto.set_bandwidth_gbit_per_s(400);
  EXPECT_EQ(LinkFromProto(proto, "x").bandwidth, Bandwidth(5e10));
  proto.set_bandwidth_gb_per_s(50);
  EXPECT_EQ(ErrorOf([&] { LinkFromProto(proto, "x"); }),
            "x: bandwidth_bytes_per_s: got more than one bandwidth, want one of "
            "bandwidth_bytes_per_s, bandwidth_gb_per_s and bandwidth_gbit_per_s");
  proto.clear_bandwidth_gbit_per_s();
  EXPECT_EQ(LinkFromProto(proto, "x").bandwidth, Bandwidth(5e10));
  proto.set_bandwidth_gb_per_s(5e10);
  EXPECT_THROW(LinkFromProto(proto, "x"), InputError);
}

}  // namespace
}  // namespace stagecraft
