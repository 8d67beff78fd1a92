// Reads configurations of DeepSpeed, Hugging Face's Trainer, accelerate, NeMo and Megatron-LM in
// JSON and YAML.
#include "tests/fuzz/training_plans.h"
#include "tools/frameworks/deepspeed_reader.h"
#include "tools/frameworks/huggingface_reader.h"
#include "tools/frameworks/megatron_reader.h"
#include "tools/frameworks/nemo_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const TrainingWishes wishes = fuzz::Wishes();
  bool is_accepted =
      fuzz::AcceptsTraining([&] { return ImportDeepspeed(text, "ds.json", wishes); });
  for (const char* name : {"args.json", "args.yaml"}) {
    is_accepted |= fuzz::AcceptsTraining([&] { return ImportHuggingFace({{name, text}}, wishes); });
  }
  is_accepted |= fuzz::AcceptsTraining([&] { return ImportNemo(text, "nemo.yaml", wishes); });
  is_accepted |=
      fuzz::AcceptsTraining([&] { return ImportMegatron(text, "args.yaml", {}, wishes); });
  if (is_accepted) fuzz::CountAccepted();
  return 0;
}
