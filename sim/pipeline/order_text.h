// Pass orders as text, for plan files: one line per stage, one word per pass.
//
//   F0 F1 B0 1F0 I1 W1      chunk 0 is left out; I and W: input and weight gradients
//   F2+1B0                  two passes beside each other
#pragma once

#include <string>
#include <string_view>

#include "sim/pipeline/pass_order.h"

namespace stagecraft {

std::string OrderToText(const PassOrder& order);

// Throws InputError for a word that is no pass; the message begins with `where`.
PassOrder OrderFromText(std::string_view text, const std::string& where);

}  // namespace stagecraft
