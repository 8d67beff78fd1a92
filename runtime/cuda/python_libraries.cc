#include "runtime/cuda/python_libraries.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <system_error>

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

// Returns the folders in a folder, sorted by name; none if it is not a folder.
std::vector<fs::path> FoldersIn(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the environment of the first python3 on PATH, which is the folder above its "bin".
fs::path EnvironmentOnPath() {
  std::istringstream folders(Variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    if (fs::exists(fs::path(folder) / "python3", error)) return fs::path(folder).parent_path();
  }
  return {};
}

}  // namespace

std::vector<fs::path> PythonEnvironments() {
  std::vector<fs::path> found;
  for (const fs::path& path :
       {fs::path(Variable("VIRTUAL_ENV")), fs::path(Variable("CONDA_PREFIX")), EnvironmentOnPath(),
        fs::path("/opt/conda"), fs::path("/usr/local"), fs::path("/usr")}) {
    const bool is_known = std::find(found.begin(), found.end(), path) != found.end();
    if (!path.empty() && !is_known) found.push_back(path);
  }
  return found;
}

std::vector<std::string> PythonLibraries(const std::string& name,
                                         const std::vector<fs::path>& environments) {
  std::vector<std::string> found;
  for (const fs::path& environment : environments) {
    for (const fs::path& python : FoldersIn(environment / "lib")) {
      if (!python.filename().string().starts_with("python3")) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) {
        for (const fs::path& package : FoldersIn(python / packages / "nvidia")) {
          const fs::path folder = package.filename();
          if (folder == "stubs" || folder == "compat") continue;
          const fs::path library = package / "lib" / name;
          std::error_code error;
          if (fs::exists(library, error)) found.push_back(library.string());
        }
      }
    }
  }
  return found;
}

}  // namespace stagecraft
