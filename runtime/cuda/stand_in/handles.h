// Handles and LibraryObjects: the objects of the program in CUDA and its libraries that are alive.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "runtime/cuda/stand_in/heap.h"

namespace stagecraft::stand_in {

// Owns the living objects of one type; the program knows them by their addresses.
template <typename Object>
class Handles {
 public:
  Object* Make(Object object) {
    auto made = std::make_unique<Object>(std::move(object));
    Object* const handle = made.get();
    alive_.emplace(handle, std::move(made));
    return handle;
  }
  // Returns the object of a handle. Ends the program unless it is alive; `what`, such as "an
  // event", begins the sentence.
  Object& Get(Object* handle, const char* what) const {
    if (!alive_.contains(handle)) {
      BreakContract(std::string(what) + " is used that was never made or is destroyed");
    }
    return *handle;
  }
  void Destroy(Object* handle, const char* what) {
    Get(handle, what);
    alive_.erase(handle);
  }
  size_t count() const { return alive_.size(); }

 private:
  std::map<const Object*, std::unique_ptr<Object>> alive_;
};

// Owns the living objects, of any type, that libraries made for the program. `what` names their
// kind in sentences: "cuDNN handle".
class LibraryObjects {
 public:
  template <typename Object>
  Object* Make(Object object, const char* what) {
    const auto made = std::make_shared<Object>(std::move(object));
    alive_.emplace(made.get(), Owned{what, made});
    return made.get();
  }
  // Ends the program unless the object is alive and of this kind.
  void Check(const void* object, const char* what) const;
  // Makes the same check, and destroys the object.
  void Destroy(const void* object, const char* what);
  // Returns the number of living objects, by kind.
  std::map<std::string, size_t> counts() const;

 private:
  struct Owned {
    const char* what;
    std::shared_ptr<void> object;
  };
  std::unordered_map<const void*, Owned> alive_;
};

}  // namespace stagecraft::stand_in
