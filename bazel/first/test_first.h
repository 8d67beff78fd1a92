// The headers that gcc reads once for all tests.
#include <gtest/gtest.h>

#include "bazel/first/library_first.h"
