// Reads job files of torchtitan.
#include "tests/fuzz/training_plans.h"
#include "tools/frameworks/torchtitan_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const TrainingWishes wishes = fuzz::Wishes();
  const auto import = [&] { return ImportTorchtitan(text, "job.toml", {}, wishes); };
  if (fuzz::AcceptsTraining(import)) fuzz::CountAccepted();
  return 0;
}
