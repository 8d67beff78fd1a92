// The headers that gcc reads once for all libraries that write JSON.
#include <nlohmann/json.hpp>

#include "bazel/first/library_first.h"
