// The output of other tools, and tables of collectives: what `import` reads and writes.
#pragma once

#include <optional>
#include <string>

#include "tools/check/check_file.h"

namespace stagecraft {

// Recognises nccl-tests logs, tables of collectives, PyTorch's schedules, NCCL's topology XML, the
// matrix of nvidia-smi topo -m and Slurm's .conf files by their first words; nullopt for other
// texts. Throws InputError as the importers do, for what they would refuse without flags, except
// that the GPU need not be named.
std::optional<FileSummary> CheckForeignText(const std::string& text, const std::string& path,
                                            const std::string& extension);

// Checks JSON with the key "items". Throws InputError as the importer does.
FileSummary CheckKubernetesNodes(const std::string& text, const std::string& path);
// Checks YAML that is a list, or topology.conf. Throws InputError as the importer does.
FileSummary CheckSlurmTopology(const std::string& text, const std::string& path);

}  // namespace stagecraft
