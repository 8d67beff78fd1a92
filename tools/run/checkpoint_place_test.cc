#include "tools/run/checkpoint_place.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "costmodel/error_of.h"
#include "costmodel/units.h"
#include "runtime/checkpoint_folder.h"
#include "runtime/scratch_folder.h"
#include "runtime/training_state.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

constexpr CheckpointFolder::Owner kRun = {.run = 7, .ranks = 1};

class CheckpointPlaceTest : public testing::Test {
 protected:
  void Write(int64_t step, bool complete) {
    const CheckpointFolder folder(scratch_.path(), kRun);
    folder.Write(step, 0, TrainingState(Bytes(800), 0));
    if (complete) folder.Complete(step);
  }
  static std::string Refusal(const std::string& path, CheckpointFolder::Owner owner = kRun) {
    return ErrorOf([&] { CheckpointPlace(path, owner); });
  }
  const ScratchFolder scratch_;
};

TEST_F(CheckpointPlaceTest, ATemporaryFolderIsGoneInTheEnd) {
  std::string path;
  {
    const CheckpointPlace place("", kRun);
    path = place.path();
    EXPECT_TRUE(fs::is_directory(path));
    EXPECT_TRUE(fs::is_directory(place.trial_path()));
    EXPECT_EQ(place.first(), 0);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(CheckpointPlaceTest, OnlyCompleteCheckpointsAreLeft) {
  Write(3, true);
  Write(6, false);
  {
    CheckpointPlace place(scratch_.path(), kRun);
    EXPECT_EQ(place.first(), 3);
    EXPECT_FALSE(fs::exists(scratch_.File("step-6.partial")));
    Write(9, false);
  }
  int files = 0;
  for (const auto& entry : fs::directory_iterator(scratch_.path())) {
    EXPECT_EQ(entry.path().filename(), "step-3");
    ++files;
  }
  EXPECT_EQ(files, 1);
}

TEST_F(CheckpointPlaceTest, FoldersOfNoUseAreRefusedInOneSentence) {
  EXPECT_EQ(Refusal("/no/such/folder"),
            "--checkpoint-folder: got /no/such/folder: No such file or directory, want a folder");
  const std::string file = scratch_.File("file");
  std::ofstream(file) << "text";
  EXPECT_EQ(Refusal(file), "--checkpoint-folder: got " + file + ": Not a directory, want a folder");
  EXPECT_EQ(Refusal("/proc"),
            "--checkpoint-folder: got /proc, which cannot be written, want one that can");
  Write(3, true);
  EXPECT_EQ(Refusal(scratch_.path(), {.run = 8, .ranks = 1}),
            "--checkpoint-folder: " + scratch_.File("step-3") +
                " is a checkpoint of another run, want an empty folder or one of this plan");
  const CheckpointPlace place(scratch_.path(), kRun);
  EXPECT_EQ(Refusal(scratch_.path()), "--checkpoint-folder: got " + scratch_.path() +
                                          ", which another run uses, want one of its own");
}

TEST_F(CheckpointPlaceTest, CheckpointsThatDoNotFitAreRefused) {
  const CheckpointPlace place(scratch_.path(), kRun);
  place.RequireRoom(Bytes(1000));
  const std::string error = ErrorOf([&] { place.RequireRoom(Bytes(int64_t{1} << 60)); });
  EXPECT_TRUE(error.starts_with("--checkpoint-folder: got " + scratch_.path() + ", where "))
      << error;
}

}  // namespace
}  // namespace stagecraft
