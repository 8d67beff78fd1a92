// Reads files config.json of Hugging Face, and simulates steps of the networks that they describe.
#include "sim/workload/readers/hf_config.h"

#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&] {
    const NetworkConfig config = ParseHuggingFaceNetwork(text, "config.json");
    CHECK(!NetworkFamilyName(config).empty());
    for (const AttentionBackend attention :
         {AttentionBackend::kFlash, AttentionBackend::kUnfused}) {
      const Workload workload = BuildNetwork(config, attention, "input");
      CHECK(workload.Parameters() > 0);
      fuzz::SimulateWorkload(workload);
    }
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
