#include "runtime/cuda/shared_library.h"

#include <dlfcn.h>

#include <string>

#include "runtime/cuda/device_op.h"
#include "runtime/cuda/python_libraries.h"

namespace stagecraft {

namespace {

void* Load(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }

}  // namespace

SharedLibrary::SharedLibrary(const std::string& name) : name_(name), handle_(Load(name)) {
  if (handle_ != nullptr) return;
  const char* const told = dlerror();
  const std::string reason = told == nullptr ? name + " is not found" : told;
  for (const std::string& path : PythonLibraries(name, PythonEnvironments())) {
    handle_ = Load(path);
    if (handle_ != nullptr) return;
  }
  throw Unsupported(reason);
}

SharedLibrary::Symbol SharedLibrary::Find(const char* name) const {
  return Symbol(dlsym(handle_, name));
}

SharedLibrary::Symbol SharedLibrary::operator[](const char* name) const {
  void* const address = dlsym(handle_, name);
  if (address == nullptr) throw Unsupported(name_ + " has no " + name);
  return Symbol(address);
}

}  // namespace stagecraft
