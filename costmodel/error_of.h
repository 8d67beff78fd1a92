// What a call complains of, for tests.
#pragma once

#include <string>

#include "costmodel/check.h"

namespace stagecraft {

// The text of the InputError that it throws; empty where it throws none.
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
