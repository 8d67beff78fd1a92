// Reads ONNX models, in ONNX's own bytes and in text, which more mutations leave readable, and
// simulates steps of the workloads that they describe.
#include "costmodel/proto_file.h"
#include "proto/onnx_subset.pb.h"
#include "sim/workload/readers/onnx_graph.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string&, const std::string& name) {
    onnx::ModelProto model;
    if (name.ends_with(".pb")) {
      if (!model.ParseFromString(text)) throw InputError("damaged");
    } else {
      ParseProtoText(text, name, ".textproto", &model);
    }
    fuzz::SimulateWorkload(OnnxWorkload(model, name));
  };
  bool is_accepted = false;
  for (const char* name : {"input.pb", "input.textproto"}) {
    is_accepted |= fuzz::Accepts([&] { read("", name); });
  }
  if (is_accepted) fuzz::CountAccepted();
  return 0;
}
