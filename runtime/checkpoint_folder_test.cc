#include "runtime/checkpoint_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "costmodel/check.h"
#include "costmodel/error_of.h"
#include "costmodel/units.h"
#include "runtime/scratch_folder.h"
#include "runtime/training_state.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

class CheckpointFolderTest : public testing::Test {
 protected:
  static TrainingState State(int rank, int updates) {
    TrainingState state(Bytes(4000), rank);
    for (int i = 0; i < updates; ++i) state.Update(Bytes(3000));
    return state;
  }
  // Both ranks write their files. With `complete` the checkpoint becomes complete, as when the
  // processes of a run have done so.
  void Write(int64_t step, bool complete = true) {
    for (int rank = 0; rank < 2; ++rank) folder_.Write(step, rank, State(rank, int(step)));
    if (complete) folder_.Complete(step);
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(scratch_.path())) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  const ScratchFolder scratch_;
  const CheckpointFolder folder_{scratch_.path(), {.run = 7, .ranks = 2}};
};

TEST_F(CheckpointFolderTest, EveryRankReadsWhatItWrote) {
  Write(3);
  EXPECT_EQ(folder_.Latest(), 3);
  for (int rank = 0; rank < 2; ++rank) {
    TrainingState read = State(rank, 0);
    ASSERT_TRUE(folder_.Read(3, rank, read));
    EXPECT_EQ(read.Fingerprint(), State(rank, 3).Fingerprint());
  }
}

TEST_F(CheckpointFolderTest, ACheckpointThatIsNotCompleteDoesNotCount) {
  Write(3);
  Write(6, /*complete=*/false);
  EXPECT_EQ(folder_.Latest(), 3);
  EXPECT_EQ(Names(), (std::set<std::string>{"step-3", "step-6.partial"}));
  folder_.CleanUp();
  EXPECT_EQ(Names(), (std::set<std::string>{"step-3"}));
}

// A process may die between the two steps of Complete().
TEST_F(CheckpointFolderTest, OfTwoCompleteOnesTheLaterIsKept) {
  Write(3);
  fs::copy(scratch_.File("step-3"), scratch_.File("step-12"));
  EXPECT_EQ(Names(), (std::set<std::string>{"step-12", "step-3"}));
  folder_.CleanUp();
  EXPECT_EQ(Names(), (std::set<std::string>{"step-12"}));
  EXPECT_THROW(folder_.Latest(), InputError);  // its files say that they are of step 3
}

TEST_F(CheckpointFolderTest, ACompleteOneReplacesAllOthers) {
  std::ofstream(scratch_.File("notes.txt")) << "mine";
  fs::create_directory(scratch_.File("step-one"));
  Write(3);
  Write(6);
  Write(6);  // once more
  EXPECT_EQ(folder_.Latest(), 6);
  EXPECT_EQ(Names(), (std::set<std::string>{"notes.txt", "step-6", "step-one"}));
}

TEST_F(CheckpointFolderTest, ADamagedFileIsNotRead) {
  Write(3);
  TrainingState state = State(0, 0);
  const auto damage = [&](int64_t at) {
    std::fstream file(folder_.File(3, 0), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
  };
  for (const int64_t at : {0, 8, 1000}) {
    damage(at);
    EXPECT_FALSE(folder_.Read(3, 0, state)) << at;
    damage(at);
    EXPECT_TRUE(folder_.Read(3, 0, state)) << at;
  }
  fs::resize_file(folder_.File(3, 0), 2000);
  EXPECT_FALSE(folder_.Read(3, 0, state));
  fs::remove(folder_.File(3, 0));
  EXPECT_FALSE(folder_.Read(3, 0, state));
  EXPECT_EQ(state.progress().updates, 3);
}

TEST_F(CheckpointFolderTest, CheckpointsOfOtherRunsAreRefused) {
  EXPECT_EQ(folder_.Latest(), std::nullopt);
  Write(3);
  const std::string sentence =
      scratch_.File("step-3") +
      " is a checkpoint of another run, want an empty folder or one of this plan";
  EXPECT_EQ(ErrorOf([&] { CheckpointFolder(scratch_.path(), {.run = 8, .ranks = 2}).Latest(); }),
            sentence);
  EXPECT_EQ(ErrorOf([&] { CheckpointFolder(scratch_.path(), {.run = 7, .ranks = 3}).Latest(); }),
            sentence);
  fs::remove(folder_.File(3, 1));
  EXPECT_EQ(ErrorOf([&] { folder_.Latest(); }), sentence);
}

TEST_F(CheckpointFolderTest, AFolderThatIsGoneIsNamed) {
  const CheckpointFolder gone(scratch_.File("gone"), {.run = 7, .ranks = 2});
  std::string failure;
  try {
    gone.Write(1, 0, State(0, 0));
  } catch (const std::runtime_error& error) {
    failure = error.what();
  }
  EXPECT_EQ(failure, scratch_.File("gone") + "/step-1.partial/rank-0: No such file or directory");
}

}  // namespace
}  // namespace stagecraft
