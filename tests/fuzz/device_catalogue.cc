// Reads catalogues of GPU types.
#include "costmodel/device_catalogue.h"

#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    const DeviceCatalogue catalogue = DeviceCatalogue::Parse(text, name, extension);
    for (const DeviceEntry& entry : catalogue.entries()) {
      CHECK(catalogue.Find(entry.device.id) == &entry);
    }
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
