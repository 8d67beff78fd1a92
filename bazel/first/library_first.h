// What gcc reads once for all libraries: the headers that most of them include. No "#pragma once":
// it is precompiled as a main file. Sources include what they use nevertheless; clang, which has no
// precompiled header here, sees that they do.

// Without optimisation fmt's headers switch some of it on for themselves, and gcc 12 does not
// switch it off again in what follows a precompiled header.
#define FMT_GCC_PRAGMA(arg)
#include <fmt/format.h>
#include <google/protobuf/generated_enum_reflection.h>
#include <google/protobuf/generated_message_reflection.h>
#include <google/protobuf/message.h>
#include <google/protobuf/repeated_field.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>
