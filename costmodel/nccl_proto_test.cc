#include "costmodel/nccl_proto.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "costmodel/check.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"
#include "proto/nccl.pb.h"

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

// One number of every field is compared with NCCL 2.28's src/graph/tuning.cc and topo.h.
TEST(NcclProtoTest, TheShippedNumbersAreThoseOfNccl) {
  const NcclTuning& tuning = EmbeddedNcclTuning();
  const auto of = [](const PerProtocol& values, Protocol protocol) {
    return values[static_cast<size_t>(protocol)];
  };
  EXPECT_EQ(tuning.version, "nccl-2.28 defaults");
  EXPECT_EQ(of(tuning.ring.base_us, Protocol::kLl), 6.6);
  EXPECT_EQ(of(tuning.ring.nvlink_hop_us, Protocol::kLl128), 1.9);
  EXPECT_EQ(of(tuning.ring.pcie_hop_us, Protocol::kSimple), 5.7);
  EXPECT_EQ(of(tuning.ring.network_hop_us, Protocol::kLl), 2.7);
  EXPECT_EQ(of(tuning.tree.base_us, Protocol::kLl), 6.8);
  EXPECT_EQ(of(tuning.tree.nvlink_hop_us, Protocol::kLl128), 1.25);
  EXPECT_EQ(of(tuning.tree.pcie_hop_us, Protocol::kLl128), 1.9);
  EXPECT_EQ(of(tuning.tree.network_hop_us, Protocol::kLl128), 8.5);
  EXPECT_EQ(tuning.nvls_hop_us, 25);
  EXPECT_EQ(of(tuning.network_overhead_us, Protocol::kSimple), 3);
  const NcclGeneration& hopper = tuning.Of(Generation::kHopper);
  EXPECT_EQ(hopper.ll_max_gb_per_s, (PerNodes{141, 39, 20.4}));
  EXPECT_EQ(hopper.ring_ll128_channel_gb_per_s, 36.7);
  EXPECT_EQ(hopper.tree_ll128_channel_gb_per_s, (PerNodes{36.7, 36.7, 29}));
  EXPECT_EQ(hopper.tree_channel_gb_per_s, (PerNodes{38.7, 41.4, 36}));
  EXPECT_EQ(hopper.nvlink_efficiency, 0.824);
  EXPECT_EQ(hopper.link_gb_per_s, 20.6);
  EXPECT_EQ(hopper.nvls_efficiency, 0.85);
  EXPECT_EQ(tuning.Of(Generation::kAmpere).nvls_efficiency, 0);
  EXPECT_EQ(tuning.pcie_efficiency, 0.762);
  EXPECT_EQ(tuning.host_efficiency, 0.3);
  const auto correction = [&](Protocol protocol) {
    return tuning.tree_correction[static_cast<size_t>(protocol)][5];
  };
  EXPECT_EQ(correction(Protocol::kLl), 0.8);
  EXPECT_EQ(correction(Protocol::kLl128), 0.9);
  EXPECT_EQ(correction(Protocol::kSimple), 0.9);
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

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Calls `visit` with the path of every number inside `message` and a function that sets it; then
// gives the number its old value again.
using Visit = std::function<void(const std::string&, const std::function<void(double)>&)>;
void ForEachNumber(Message& message, const std::string& path, const Visit& visit) {
  const auto& reflection = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* const field = message.GetDescriptor()->field(i);
    const std::string name = path + std::string(field->name());
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const bool is_number = field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 0;
    for (int at = 0; at < count; ++at) {
      const std::string place = name + "[" + std::to_string(at) + "]";
      if (is_message) {
        ForEachNumber(*reflection.MutableRepeatedMessage(&message, field, at), place + ".", visit);
      } else if (is_number) {
        const double before = reflection.GetRepeatedDouble(message, field, at);
        visit(place,
              [&](double value) { reflection.SetRepeatedDouble(&message, field, at, value); });
        reflection.SetRepeatedDouble(&message, field, at, before);
      }
    }
    if (field->is_repeated()) continue;
    if (is_message) {
      ForEachNumber(*reflection.MutableMessage(&message, field), name + ".", visit);
    } else if (is_number) {
      const double before = reflection.GetDouble(message, field);
      visit(name, [&](double value) { reflection.SetDouble(&message, field, value); });
      reflection.SetDouble(&message, field, before);
    }
  }
}

TEST(NcclProtoTest, EveryNumberHasARange) {
  NcclTuningProto proto;
  ParseProtoText(Text(), "nccl.textproto", ".textproto", &proto);
  int numbers = 0;
  ForEachNumber(proto, "", [&](const std::string& path, const std::function<void(double)>& set) {
    ++numbers;
    for (const double value :
         {-1.0, 1e-300, 1e21, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
      set(value);
      std::string refusal;
      try {
        NcclTuningFromProto(proto, "nccl.textproto");
      } catch (const InputError& error) {
        refusal = error.what();
      }
      EXPECT_EQ(refusal.find("nccl.textproto: " + path + ": got "), 0u) << path << ' ' << value;
    }
  });
  EXPECT_GT(numbers, 150);
  EXPECT_EQ(NcclTuningFromProto(proto, "nccl.textproto"), EmbeddedNcclTuning());
}

TEST(NcclProtoTest, AGenerationTwiceIsRefused) {
  std::string text = Text();
  text.replace(text.find("\"volta\""), 7, "\"pascal\"");
  EXPECT_NE(ErrorOf(text).find("generation[1].generation: got \"pascal\""), std::string::npos)
      << ErrorOf(text);
}

}  // namespace
}  // namespace stagecraft
