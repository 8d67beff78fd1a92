// Reads measured samples: tables of every known kind, gzipped ones too, and messages.
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/learned/samples/sample_proto.h"
#include "costmodel/proto_file.h"
#include "proto/sample.pb.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto check = [](const std::vector<Sample>& samples) {
    for (const Sample& sample : samples) CHECK(sample.time > Duration());
  };
  bool is_accepted = fuzz::Accepts([&] { check(ParseSamples(text, "samples.csv").samples); });
  is_accepted |=
      fuzz::AcceptsInSomeFormat([&](const std::string& extension, const std::string& name) {
        SampleSetProto proto;
        ParseProtoText(text, name, extension, &proto);
        check(SamplesFromProto(proto, name));
      });
  if (is_accepted) fuzz::CountAccepted();
  return 0;
}
