// The flags that say how data-parallel ranks agree on their gradients.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class SyncFlags {
 public:
  // Returns the options; the object must outlive the parse.
  std::vector<Flag> Register(Flags& flags);

  // Throws InputError for what is no method or no time; FindErrors() judges the rest.
  SyncOptions Options() const;

 private:
  std::string method_ = "all-reduce";
  SyncOptions options_;
  double timeout_ms_ = 0;
};

// What a plan's way to synchronise means beyond its time, a sentence each.
std::vector<std::string> SyncNotes(const Plan& plan);

}  // namespace stagecraft
