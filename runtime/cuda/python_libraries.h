// Where Python environments keep NVIDIA's libraries: many machines have no others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stagecraft {

// The Python environments of this process: those that VIRTUAL_ENV and CONDA_PREFIX name, that of
// the python3 found in PATH, /opt/conda, /usr/local and /usr. Each occurs once; some may not exist.
std::vector<std::filesystem::path> PythonEnvironments();

// Files of this name in the folders site-packages/nvidia/*/lib of these environments, in the order
// of the environments, then by path. Files in folders "stubs" and "compat" are left out: the former
// do nothing, the latter belong to a driver.
std::vector<std::string> PythonLibraries(const std::string& name,
                                         const std::vector<std::filesystem::path>& environments);

}  // namespace stagecraft
