// Where Python environments keep NVIDIA's libraries: many machines have no others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stagecraft {

// Returns the Python environments of this process: those that VIRTUAL_ENV and CONDA_PREFIX name,
// that of the first python3 on PATH, /opt/conda, /usr/local and /usr. Each occurs once; some may
// not exist.
std::vector<std::filesystem::path> PythonEnvironments();

// Returns the files of this name in the folders nvidia/*/lib of the site-packages and dist-packages
// of these environments, in the order of the environments, then by path. Packages "stubs" and
// "compat" are left out: the former do nothing, the latter belong to a driver.
std::vector<std::string> PythonLibraries(const std::string& name,
                                         const std::vector<std::filesystem::path>& environments);

}  // namespace stagecraft
