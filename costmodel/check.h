// CHECK for bugs, InputError for bad input: never use one for the other.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

// Prints the condition and its place and aborts if the condition is false. Only for failures that
// no input can cause.
#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

namespace stagecraft {

// InputError says that something a user wrote is wrong. The text is one sentence that names file
// (or flag), key, value and what was wanted: "plan.yaml: tensor_parallel: got 3, want a divisor of
// the 64 attention heads". Caught once, in main: exit code 2.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& sentence) : std::runtime_error(sentence) {}
};

}  // namespace stagecraft
