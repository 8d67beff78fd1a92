// Reads launch scripts of Megatron-LM and torchtitan.
#include "tests/fuzz/training_plans.h"
#include "tools/frameworks/megatron_reader.h"
#include "tools/frameworks/torchtitan_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const TrainingWishes wishes = fuzz::Wishes();
  bool is_accepted =
      fuzz::AcceptsTraining([&] { return ImportMegatron(text, "run.sh", {}, wishes); });
  is_accepted |=
      fuzz::AcceptsTraining([&] { return ImportTorchtitan(text, "run.sh", {}, wishes); });
  if (is_accepted) fuzz::CountAccepted();
  return 0;
}
