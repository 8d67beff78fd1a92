// LazyFamily: a FamilyModel that is read when it is first asked for.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/learned/family_model.h"

namespace stagecraft {

// Get() may be called from any thread.
class LazyFamily {
 public:
  explicit LazyFamily(FamilyModel model) : model_(std::move(model)) {}
  // `bytes` are a serialised FamilyModelProto with BoostedTreesProto::nodes, which are not copied:
  // they must outlive all copies of the model. They must be valid, as a test proves of those in the
  // binary.
  explicit LazyFamily(std::string_view bytes) : bytes_(bytes) {}
  LazyFamily(const LazyFamily&) = delete;

  const FamilyModel& Get() const;

 private:
  std::string_view bytes_;
  mutable std::once_flag once_;
  mutable std::optional<FamilyModel> model_;
};

// The parts of a serialised CostModelProto.
struct SplitCostModel {
  std::vector<std::string_view> families;  // each a FamilyModelProto
  std::string rest;                        // a CostModelProto without families
};

// Finds the parts without reading the families. CHECKs that `bytes`, which the result refers to,
// are a message.
SplitCostModel SplitFamilies(std::string_view bytes);

// Returns the name of the family in a serialised FamilyModelProto.
std::string_view FamilyName(std::string_view bytes);

}  // namespace stagecraft
