// Reads the matrix that nvidia-smi topo -m prints, and simulates steps on the clusters that it
// describes.
#include "tools/import/smi_topology.h"

#include "tests/fuzz/imported_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto import = [&] { return ImportSmiTopology(text, "topo.txt", fuzz::OfOneKind()); };
  if (fuzz::AcceptsImport(import)) fuzz::CountAccepted();
  return 0;
}
