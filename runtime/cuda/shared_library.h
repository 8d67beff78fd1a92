// SharedLibrary: a library that is loaded only when it is needed, so that the program starts
// without it, and just as fast.
#pragma once

#include <string>

namespace stagecraft {

// It is searched for like the program's own libraries, by its run path, by LD_LIBRARY_PATH and in
// the system's folders, and then in Python environments (PythonLibraries()).
class SharedLibrary {
 public:
  // Loads the library. Throws Unsupported with the loader's reason.
  explicit SharedLibrary(const std::string& name);
  // The library stays loaded until the program ends: libraries of this size do not unload well.
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  // The address of a function, which converts to a pointer to any type of function.
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
  // Returns the function of this name. Throws Unsupported if there is none.
  Symbol operator[](const char* name) const;
  // Returns the function of this name; a null pointer if there is none.
  Symbol Find(const char* name) const;

 private:
  std::string name_;
  void* handle_;
};

// Returns a library's name for the status that one of its calls returned, with its number: "NAME
// (7)". If the library has no function that names it, so that `name_of` is nullptr, returns "status
// 7".
template <typename Status>
std::string StatusText(const char* (*name_of)(Status), Status status) {
  const std::string number = std::to_string(status);
  return name_of == nullptr ? "status " + number
                            : std::string(name_of(status)) + " (" + number + ")";
}

}  // namespace stagecraft
