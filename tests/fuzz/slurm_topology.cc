// Slurm's topology.conf or topology.yaml and gres.conf, in one input: what is behind the line
// kDivider is gres.conf. The cluster that they describe is simulated.
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
