// Reads Slurm's topology.conf or topology.yaml, and gres.conf, which follows it in the same input
// after the line kDivider. Simulates steps on the clusters that they describe.
#include "tools/import/slurm_topology.h"

#include "tests/fuzz/imported_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  constexpr std::string_view kDivider = "# gres.conf\n";
  const std::string text = fuzz::Text(data, size);
  const size_t end = std::min(text.find(kDivider), text.size());
  const std::string gres = text.substr(end);
  bool is_accepted = false;
  for (const char* name : {"topology.conf", "topology.yaml"}) {
    const auto import = [&] {
      ImportOptions options;
      if (gres.empty()) options.node = "dgx-h100";
      return ImportSlurmTopology({text.substr(0, end), name}, {gres, "gres.conf"}, options);
    };
    is_accepted |= fuzz::AcceptsImport(import);
  }
  if (is_accepted) fuzz::CountAccepted();
  return 0;
}
