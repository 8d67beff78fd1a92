// CheckpointFolder: the checkpoints of a training run. Each is complete or does not count, whenever
// processes die.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "runtime/training_state.h"

namespace stagecraft {

// A checkpoint after N steps is a folder step-N with a file for each rank. Ranks write their files
// to step-N.partial; when all are on the disk, it gets its name. Everything else in the folder is
// left alone.
class CheckpointFolder {
 public:
  // Whose checkpoints these are. Checkpoints of others are never read.
  struct Owner {
    uint64_t run = 0;
    int ranks = 0;
  };
  CheckpointFolder(std::string path, Owner owner) : path_(std::move(path)), owner_(owner) {}

  // Writes what a rank keeps; returns when it is on the disk. Throws std::runtime_error, which
  // names the file, if it cannot be written.
  void Write(int64_t step, int rank, const TrainingState& state) const;
  // Called by one process when all ranks have written: makes the checkpoint complete, and then
  // removes all others.
  void Complete(int64_t step) const;
  // Makes `state` what the rank wrote. Returns false if the file is not as it was written.
  bool Read(int64_t step, int rank, TrainingState& state) const;

  // Returns the steps of the latest complete checkpoint; no value if there is none. Throws
  // InputError, after the name of the checkpoint, if it is not of this run.
  std::optional<int64_t> Latest() const;
  // Removes all checkpoints, complete or not, but the latest complete one.
  void CleanUp() const;

  // Returns the file of a rank in a complete checkpoint.
  std::filesystem::path File(int64_t step, int rank) const;

 private:
  const std::filesystem::path path_;
  const Owner owner_;
};

}  // namespace stagecraft
