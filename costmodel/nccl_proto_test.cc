#include "costmodel/nccl_proto.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "costmodel/check.h"
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

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Calls `visit` with the path of every number inside `message` and with what sets it; sets each
// back afterwards.
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
  EXPECT_EQ(NcclTuningFromProto(proto, "nccl.textproto"), NcclTuning());
}

TEST(NcclProtoTest, AGenerationTwiceIsRefused) {
  std::string text = Text();
  text.replace(text.find("\"volta\""), 7, "\"pascal\"");
  EXPECT_NE(ErrorOf(text).find("generation[1].generation: got \"pascal\""), std::string::npos)
      << ErrorOf(text);
}

}  // namespace
}  // namespace stagecraft
