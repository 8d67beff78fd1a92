// The error of a call, for tests.
#pragma once

#include <string>

#include "costmodel/check.h"

namespace stagecraft {

// Returns the text of the InputError that the call throws; empty if it throws none.
template <typename Call>
std::string ErrorOf(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace stagecraft
