#include "costmodel/learned/lazy_family.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/learned/boosted_trees.h"
#include "proto/cost_model.pb.h"

namespace stagecraft {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// A stream over bytes in memory.
struct BytesStream : CodedInputStream {
  explicit BytesStream(std::string_view bytes)
      : CodedInputStream(reinterpret_cast<const uint8_t*>(bytes.data()),
                         static_cast<int>(bytes.size())) {}
};

// Calls visit(field, whole, contents) for each field of a message: its number, its bytes with the
// tag, and what follows tag and length of one that has a length.
template <typename Visit>
void ForEachField(std::string_view bytes, Visit visit) {
  BytesStream stream(bytes);
  for (int begin = 0; begin < static_cast<int>(bytes.size());) {
    const uint32_t tag = stream.ReadTag();
    CHECK(tag != 0);
    std::string_view contents;
    if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      uint32_t length = 0;
      CHECK(stream.ReadVarint32(&length));
      const int at = stream.CurrentPosition();
      CHECK(stream.Skip(static_cast<int>(length)));
      contents = bytes.substr(at, length);
    } else {
      CHECK(WireFormatLite::SkipField(&stream, tag));
    }
    const int end = stream.CurrentPosition();
    visit(WireFormatLite::GetTagFieldNumber(tag), bytes.substr(begin, end - begin), contents);
    begin = end;
  }
}

// Trees whose nodes stay where they are in the message.
BoostedTrees TreesIn(std::string_view message) {
  std::string rest;
  std::string_view nodes;
  ForEachField(message, [&](int field, std::string_view whole, std::string_view contents) {
    if (field == BoostedTreesProto::kNodesFieldNumber) {
      nodes = contents;
    } else {
      rest.append(whole);
    }
  });
  BoostedTreesProto proto;
  CHECK(proto.ParseFromString(rest));
  return BoostedTrees::InPlace(proto, nodes);
}

FamilyModel FamilyIn(std::string_view message) {
  std::string rest;
  BoostedTrees trees, spread_trees;
  ForEachField(message, [&](int field, std::string_view whole, std::string_view contents) {
    if (field == FamilyModelProto::kTreesFieldNumber) {
      trees = TreesIn(contents);
    } else if (field == FamilyModelProto::kSpreadTreesFieldNumber) {
      spread_trees = TreesIn(contents);
    } else {
      rest.append(whole);
    }
  });
  FamilyModelProto proto;
  CHECK(proto.ParseFromString(rest));
  return FamilyModel::FromParts(proto, std::move(trees), std::move(spread_trees),
                                "cost_models/kernels.pb: " + proto.family());
}

}  // namespace

const FamilyModel& LazyFamily::Get() const {
  std::call_once(once_, [this] {
    if (!model_.has_value()) model_ = FamilyIn(bytes_);
  });
  return *model_;
}

SplitCostModel SplitFamilies(std::string_view bytes) {
  SplitCostModel split;
  ForEachField(bytes, [&](int field, std::string_view whole, std::string_view contents) {
    if (field == CostModelProto::kFamiliesFieldNumber) {
      split.families.push_back(contents);
    } else {
      split.rest.append(whole);
    }
  });
  return split;
}

std::string_view FamilyName(std::string_view bytes) {
  // The name is the first field, and what follows is long.
  BytesStream stream(bytes);
  uint32_t length = 0;
  CHECK(WireFormatLite::GetTagFieldNumber(stream.ReadTag()) ==
            FamilyModelProto::kFamilyFieldNumber &&
        stream.ReadVarint32(&length) && stream.CurrentPosition() + length <= bytes.size());
  return bytes.substr(stream.CurrentPosition(), length);
}

}  // namespace stagecraft
