#include <dlfcn.h>

#include "runtime/cuda/device_op.h"
#include "runtime/cuda/shared_library.h"

namespace stagecraft {

SharedLibrary::SharedLibrary(const std::string& name)
    : name_(name), handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    const char* reason = dlerror();
    throw Unsupported(reason == nullptr ? name + " is not found" : reason);
  }
}

SharedLibrary::Symbol SharedLibrary::operator[](const char* name) const {
  void* address = dlsym(handle_, name);
  if (address == nullptr) throw Unsupported(name_ + " has no " + name);
  return Symbol(address);
}

}  // namespace stagecraft
