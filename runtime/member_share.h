// MemberShare: the part of a buffer that belongs to one of the members that share it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "costmodel/divide.h"

namespace stagecraft {

// MemberShare: the elements, from `begin` to before `end`, that one member of a group has. All
// members have equally many, except that the last ones may have fewer, or none.
struct MemberShare {
  int64_t begin = 0, end = 0;

  static MemberShare Of(int64_t count, int members, int member) {
    const int64_t share = DivideUp(count, members);
    return {std::min(count, member * share), std::min(count, (member + 1) * share)};
  }
  int64_t count() const { return end - begin; }
};

}  // namespace stagecraft
