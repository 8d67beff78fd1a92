// The headers that gcc reads once for all libraries, since most of them include these. There is no
// "#pragma once", since this file is precompiled as a main file. Sources still include what they
// use; clang, for which there is no precompiled header, checks that.

// Without optimisation, fmt's headers turn some optimisation on for themselves by pragmas, which
// gcc 12 does not turn off again after a precompiled header. This macro leaves the pragmas out.
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
