// CheckpointPlace: the folder in which a training run of this host keeps its checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "costmodel/units.h"
#include "runtime/checkpoint_folder.h"
#include "runtime/scratch_folder.h"

namespace stagecraft {

// In the end, whatever happens, nothing is left in the folder but the latest complete checkpoint; a
// temporary folder is removed as a whole.
class CheckpointPlace {
 public:
  // `path` is that of --checkpoint-folder; empty: a temporary folder. No other run can use it as
  // long as the object exists. Throws InputError if the folder is missing, cannot be written, is in
  // use, or has the checkpoint of another run.
  CheckpointPlace(const std::string& path, CheckpointFolder::Owner owner);
  ~CheckpointPlace();
  CheckpointPlace(const CheckpointPlace&) = delete;

  const std::string& path() const { return path_; }
  // An empty folder on the same disk, for checkpoints that do not count; until EndTrial().
  std::string trial_path() const { return trial_->path(); }
  void EndTrial() { trial_.reset(); }
  // Returns how many steps the latest complete checkpoint is after, 0 if there is none: now, and
  // when the object was made.
  int64_t Latest() const { return folder_->Latest().value_or(0); }
  int64_t first() const { return first_; }

  // Throws InputError if there is no room for checkpoints of this size.
  void RequireRoom(Bytes checkpoint) const;
  // Removes what processes that died have left.
  void CleanUp() const { folder_->CleanUp(); }

 private:
  std::optional<ScratchFolder> temporary_;
  std::string path_;
  int lock_ = -1;
  std::optional<CheckpointFolder> folder_;
  std::optional<ScratchFolder> trial_;
  int64_t first_ = 0;
};

}  // namespace stagecraft
