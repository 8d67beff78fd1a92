// What gcc reads once for all tests. No "#pragma once": it is precompiled as a main file.
#include <gtest/gtest.h>
