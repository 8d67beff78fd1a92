// SharedLibrary in the stand-in: its libraries are part of the program.
#include "runtime/cuda/stand_in/library_functions.h"

#include <algorithm>
#include <string>

#include "runtime/cuda/device_op.h"
#include "runtime/cuda/shared_library.h"
#include "runtime/cuda/stand_in/gpu.h"

namespace stagecraft {
namespace stand_in {
namespace {

struct Library {
  std::string_view prefix;  // of the name of its file
  std::span<const LibraryFunction> (*functions)();
};
constexpr Library kLibraries[] = {{"libcublasLt.so.", CublasFunctions},
                                  {"libcudnn.so.", CudnnFunctions},
                                  {"libnvidia-ml.so.", NvmlFunctions}};

const Library* FindLibrary(const std::string& name) {
  for (const std::string& missing : Gpu::Get().played.missing) {
    if (name.starts_with(missing)) return nullptr;
  }
  const auto* const found =
      std::find_if(std::begin(kLibraries), std::end(kLibraries),
                   [&](const Library& library) { return name.starts_with(library.prefix); });
  return found == std::end(kLibraries) ? nullptr : found;
}

}  // namespace
}  // namespace stand_in

SharedLibrary::SharedLibrary(const std::string& name) : name_(name) {
  const stand_in::Library* const library = stand_in::FindLibrary(name);
  if (library == nullptr) {
    throw Unsupported(name + ": cannot open shared object file: No such file or directory");
  }
  handle_ = const_cast<stand_in::Library*>(library);
}

SharedLibrary::Symbol SharedLibrary::Find(const char* name) const {
  const bool is_missing = stand_in::Gpu::Get().played.missing.contains(name);
  for (const auto& function : static_cast<const stand_in::Library*>(handle_)->functions()) {
    if (function.name == name && !is_missing) return Symbol(function.address);
  }
  return Symbol(nullptr);
}

SharedLibrary::Symbol SharedLibrary::operator[](const char* name) const {
  const Symbol found = Find(name);
  void (*const function)() = found;
  if (function == nullptr) throw Unsupported(name_ + " has no " + name);
  return found;
}

}  // namespace stagecraft
