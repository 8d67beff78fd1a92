// SharedLibrary: a library that is looked for only when it is needed, so that the program starts,
// and starts as fast, without it.
#pragma once

#include <string>

namespace stagecraft {

// It is found as the program's own libraries are: by its run path and LD_LIBRARY_PATH, in the
// system's folders; then in Python environments (PythonLibraries()).
class SharedLibrary {
 public:
  // Throws Unsupported with the loader's reason.
  explicit SharedLibrary(const std::string& name);
  // It stays loaded until the program ends: libraries of this size do not unload well.
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  // Converts to a pointer to any function.
  class Symbol {
   public:
    explicit Symbol(void* address) : address_(address) {}
    template <typename Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(address_);
    }

   private:
    void* address_;
  };
  // Throws Unsupported if there is none.
  Symbol operator[](const char* name) const;
  // A null pointer if there is none.
  Symbol Find(const char* name) const;

 private:
  std::string name_;
  void* handle_;
};

// A library's name for the status that one of its calls returned, with its number: "NAME (7)", or
// "status 7" if the library has no function that names it, and `name_of` is nullptr.
template <typename Status>
std::string StatusText(const char* (*name_of)(Status), Status status) {
  const std::string number = std::to_string(status);
  return name_of == nullptr ? "status " + number
                            : std::string(name_of(status)) + " (" + number + ")";
}

}  // namespace stagecraft
