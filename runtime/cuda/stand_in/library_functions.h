// The functions of libraries that SharedLibrary loads, in the stand-in.
#pragma once

#include <span>
#include <string_view>

namespace stagecraft::stand_in {

struct LibraryFunction {
  std::string_view name;
  void* address;
};
#define LIBRARY_FUNCTION(name) \
  { #name, reinterpret_cast < void*>(name) }

std::span<const LibraryFunction> CublasFunctions();
std::span<const LibraryFunction> CudnnFunctions();
std::span<const LibraryFunction> NvmlFunctions();

}  // namespace stagecraft::stand_in
