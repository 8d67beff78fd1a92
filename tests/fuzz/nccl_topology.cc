// Reads NCCL's topology XML, and simulates steps on the clusters that it describes.
#include "tools/import/nccl_topology.h"

#include "tests/fuzz/imported_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto import = [&] { return ImportNcclTopology(text, "topology.xml", fuzz::OfOneKind()); };
  if (fuzz::AcceptsImport(import)) fuzz::CountAccepted();
  return 0;
}
