// Cost models that fit wrote, and what they say to a few ops.
#include <cmath>

#include "costmodel/device_catalogue.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/op.h"
#include "costmodel/proto_file.h"
#include "proto/cost_model.pb.h"
#include "tests/fuzz/fuzzing.h"

namespace stagecraft {
namespace {

// Whether what it predicts stays within the years that a Duration holds; beyond, times wrap
// around, until Duration::Seconds() saturates.
bool HasUsualSizes(const FamilyModelProto& family) {
  const auto is_usual = [](double value) { return value == 0 || (value >= 1e-6 && value <= 1e6); };
  bool is_small = true;
  for (const BoardConstantsProto& board : family.boards()) {
    is_small &= std::abs(board.offset()) <= 10 && is_usual(board.device().multiprocessors());
    for (const double constant : board.constants()) is_small &= is_usual(constant);
  }
  for (const float value : family.trees().values()) is_small &= std::abs(value) <= 10;
  for (const float value : family.spread_trees().values()) is_small &= std::abs(value) <= 10;
  return is_small && is_usual(family.known_factor()) && is_usual(family.unknown_half());
}

}  // namespace
}  // namespace stagecraft

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  static const std::vector<Op> ops = {Op::Gemm(DType::kFp16, 1, 512, 512, 512),
                                      Op::Elementwise(Bytes(1 << 20))};
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    CostModelProto proto;
    ParseProtoText(text, name, extension, &proto);
    const LearnedModel model = LearnedModel::FromProto(proto, name);
    for (const FamilyModelProto& family : proto.families()) {
      if (!HasUsualSizes(family)) return;
    }
    for (const char* board : {"h100-sxm", "v100-sxm2-16gb"}) {
      const Device& device = DeviceCatalogue::Embedded().Get(board, "board").device;
      for (const Estimate& estimate : model.Predict(ops, device)) {
        CHECK(estimate.time >= Duration() && estimate.spread >= 0);
      }
    }
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
