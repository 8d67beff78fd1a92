// TabledFamily: a KernelFamily whose constants and feature names are fixed tables.
#pragma once

#include "costmodel/learned/kernel_family.h"

namespace stagecraft {

class TabledFamily : public KernelFamily {
 public:
  // The tables must outlive the family.
  TabledFamily(const char* name, std::span<const Constant> constants,
               std::span<const char* const> feature_names)
      : name_(name), constants_(constants), feature_names_(feature_names) {}

  const char* name() const final { return name_; }
  std::span<const Constant> constants() const final { return constants_; }
  int feature_count() const final { return static_cast<int>(feature_names_.size()); }
  std::span<const char* const> feature_names() const final { return feature_names_; }

 private:
  const char* name_;
  std::span<const Constant> constants_;
  std::span<const char* const> feature_names_;
};

}  // namespace stagecraft
