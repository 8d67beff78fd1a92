// Reads cost models in the form in which `fit` writes them, and asks them for a few ops.
#include <cmath>

#include "costmodel/device_catalogue.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/op.h"
#include "costmodel/proto_file.h"
#include "proto/cost_model.pb.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  static const std::vector<Op> ops = {Op::Gemm(DType::kFp16, 1, 512, 512, 512),
                                      Op::Elementwise(Bytes(1 << 20))};
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    CostModelProto proto;
    ParseProtoText(text, name, extension, &proto);
    const LearnedModel model = LearnedModel::FromProto(proto, name);
    for (const char* gpu : {"h100-sxm", "v100-sxm2-16gb"}) {
      const Device& device = DeviceCatalogue::Embedded().Get(gpu, "board").device;
      for (const Estimate& estimate : model.Predict(ops, device)) {
        CHECK(estimate.time >= Duration());
        CHECK(estimate.spread >= 0 && std::isfinite(estimate.spread));
      }
    }
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
