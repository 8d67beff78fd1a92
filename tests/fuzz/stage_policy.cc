// Reads policies that `search` and `partition` have learned.
#include "search/partition/stages/stage_policy.h"

#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&] {
    const StagePolicy policy = StagePolicy::Read(text, "input.policy");
    CHECK(StagePolicy::Read(policy.Write(), "again").Write() == policy.Write());
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
