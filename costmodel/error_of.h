// What a call complains about, for tests.
#pragma once

#include <string>

#include "costmodel/check.h"

namespace stagecraft {

// The text of the InputError that the call throws; empty if it throws none.
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
