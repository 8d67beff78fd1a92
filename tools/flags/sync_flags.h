// The flags that say how data-parallel ranks agree on their gradients.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// SyncFlags: how gradients are synchronised.
class SyncFlags {
 public:
  // Registers the flags and returns them; the object must outlive the parse.
  std::vector<Flag> Register(Flags& flags);

  // Returns what the flags ask for. Throws InputError for an unknown method or a timeout out of
  // range; FindErrors() judges the rest.
  SyncOptions Options() const;

 private:
  std::string method_ = "all-reduce";
  SyncOptions options_;
  double timeout_ms_ = 0;
};

// What the plan's way to synchronise gradients means beyond the time that it takes, a sentence
// each.
std::vector<std::string> SyncNotes(const Plan& plan);

}  // namespace stagecraft
