// TrainOutputs: the files that `train` writes.
#pragma once

#include <iosfwd>
#include <string>

#include "tools/flags/planned_job.h"
#include "tools/train/train_answer.h"
#include "tools/train/train_flags.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class TrainOutputs {
 public:
  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);
  // Throws InputError, which names the flag, for a file of another format, or one of a single
  // history if there are several `runs`.
  void Check(int runs) const;
  // Writes the files that were asked for, and says so on `err`. Precondition: Check() accepted
  // them.
  void Write(const PlannedJob& job, const TrainRequest& request, const TrainAnswer& answer,
             std::ostream& err) const;

  bool is_json() const { return json_; }

 private:
  std::string history_, trace_, report_;
  bool json_ = false, quiet_ = false;
};

}  // namespace stagecraft
