// --slow, --kill, --checkpoint-every, --checkpoint-folder: a run on slow ranks, or one that fails.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/host_training.h"
#include "tools/run/run_request.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class FaultFlags {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);

  // Sets what these flags ask for. `steps` is --steps, if it is given. Throws InputError that names
  // the flag for values that are malformed, repeated, or not for this executor; ranks are not
  // checked. Must be called after the flags were parsed.
  void Apply(const Flags& flags, const std::string& executor, std::optional<int> steps,
             RunRequest& request) const;

  // Sets `speeds` of the request, which are by rank. Throws InputError for ranks of --slow and
  // --kill beyond those of the plan.
  void ApplyRanks(int ranks, RunRequest& request) const;

 private:
  bool MeasuresRun() const { return !kills_.empty() || checkpoint_every_.has_value(); }
  MeasuredRunRequest RunOf(int steps) const;

  std::vector<std::string> slow_, kills_;
  std::optional<int> checkpoint_every_;
  std::string folder_;
};

}  // namespace stagecraft
