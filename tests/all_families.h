// AllFamilies(): all families of a space of degrees, for tests.
#pragma once

#include <vector>

#include "search/space.h"

namespace stagecraft {

// Returns every family once for each of its lists of devices.
inline std::vector<DegreeFamily> AllFamilies(const DegreeSpace& space) {
  std::vector<DegreeFamily> all;
  for (const DegreePart& part : space.Parts()) {
    for (const DegreeFamily& family : space.FamiliesOf(part)) {
      const std::vector<DegreeFamily> on_lists = space.OnLists(family);
      all.insert(all.end(), on_lists.begin(), on_lists.end());
    }
  }
  return all;
}

}  // namespace stagecraft
