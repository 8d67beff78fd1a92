// Reads tables of measured collectives, and asks the shipped network model for their rows.
#include "costmodel/network/collective_table.h"

#include "costmodel/device_catalogue.h"
#include "costmodel/network/network_model.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&] {
    const CollectiveTable table = ParseCollectiveTable(text, "collectives.csv");
    for (const NetworkSample& sample : table.samples) {
      CHECK(sample.time > Duration());
      const Device& device = DeviceCatalogue::Embedded().Get(sample.gpu, "gpu_id").device;
      const Op ops[] = {sample.op};
      CHECK(NetworkModel::Shipped().Predict(ops, device)[0].estimate.time > Duration());
    }
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
