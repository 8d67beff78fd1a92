#include "runtime/scratch_folder.h"

#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace stagecraft {

ScratchFolder::ScratchFolder(const std::filesystem::path& parent) {
  // mkdtemp() replaces the last six characters.
  std::string name = (parent / "stagecraft-").string() + std::string(6, 'X');
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made: " + name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace stagecraft
