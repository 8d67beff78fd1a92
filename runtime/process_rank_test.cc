#include "runtime/process_rank.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<ProcessRank> Find(const Variables& variables) {
  return FindProcessRank([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string Error(const Variables& variables) {
  return ErrorOf([&] { Find(variables); });
}

Variables With(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

Variables Without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

const Variables kTorchrun = {{"RANK", "5"},
                             {"WORLD_SIZE", "8"},
                             {"LOCAL_RANK", "1"},
                             {"MASTER_ADDR", "node0"},
                             {"MASTER_PORT", "29500"}};
const Variables kMpirun = {{"OMPI_COMM_WORLD_RANK", "1"},
                           {"OMPI_COMM_WORLD_SIZE", "2"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                           {"PMIX_NAMESPACE", "2893611009"}};
const Variables kSrun = {{"SLURM_PROCID", "3"},   {"SLURM_NTASKS", "4"},
                         {"SLURM_LOCALID", "1"},  {"SLURM_STEP_NODELIST", "gpu[003-005,9]"},
                         {"SLURM_JOB_ID", "716"}, {"SLURM_STEP_ID", "0"}};

TEST(ProcessRankTest, WithoutALauncherThereIsNoRank) {
  EXPECT_FALSE(Find({}).has_value());
  EXPECT_FALSE(Find({{"MASTER_ADDR", "node0"}}).has_value());
}

TEST(ProcessRankTest, TorchrunStatesEverything) {
  const ProcessRank process = *Find(kTorchrun);
  EXPECT_EQ(process.rank, 5);
  EXPECT_EQ(process.size, 8);
  EXPECT_EQ(process.local_rank, 1);
  EXPECT_EQ(process.address, "node0:29500");
  EXPECT_EQ(Find(With(kTorchrun, "MASTER_ADDR", "fe80::1"))->address, "[fe80::1]:29500");
}

TEST(ProcessRankTest, APortThatTorchrunUsesIsNotUsedAgain) {
  EXPECT_EQ(Find(With(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "True"))->address, "node0:29501");
  EXPECT_EQ(Find(With(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "False"))->address, "node0:29500");
}

TEST(ProcessRankTest, OneProcessNeedsNoAddress) {
  const ProcessRank process = *Find({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_RANK", "0"}});
  EXPECT_EQ(process.size, 1);
  EXPECT_EQ(process.address, "");
}

TEST(ProcessRankTest, ProcessesOfMpirunMeetOnTheirHostOrWhereMasterAddrSays) {
  const ProcessRank process = *Find(kMpirun);
  EXPECT_EQ(process.rank, 1);
  EXPECT_EQ(process.size, 2);
  EXPECT_EQ(process.local_rank, 1);
  EXPECT_TRUE(process.address.starts_with("127.0.0.1:")) << process.address;
  EXPECT_NE(Find(With(kMpirun, "PMIX_NAMESPACE", "2893611010"))->address, process.address);

  const Variables four = With(kMpirun, "OMPI_COMM_WORLD_SIZE", "4");
  EXPECT_EQ(Error(four),
            "MASTER_ADDR: got none for 4 processes of which 2 are here, want the host of rank 0: "
            "mpirun -x MASTER_ADDR=HOST");
  EXPECT_EQ(Find(With(four, "MASTER_ADDR", "node0"))->address, "node0:29500");
  EXPECT_EQ(Find(With(With(four, "MASTER_ADDR", "node0"), "MASTER_PORT", "7000"))->address,
            "node0:7000");
}

// Another step of the job may be on the first host of the job.
TEST(ProcessRankTest, ProcessesOfSrunMeetOnTheFirstHostOfTheirStep) {
  const ProcessRank process = *Find(kSrun);
  EXPECT_EQ(process.rank, 3);
  EXPECT_EQ(process.size, 4);
  EXPECT_EQ(process.local_rank, 1);
  EXPECT_TRUE(process.address.starts_with("gpu003:")) << process.address;
  EXPECT_EQ(Find(With(kSrun, "SLURM_PROCID", "0"))->address, process.address);
  EXPECT_NE(Find(With(kSrun, "SLURM_JOB_ID", "717"))->address, process.address);
  EXPECT_NE(Find(With(kSrun, "SLURM_STEP_ID", "1"))->address, process.address);
  EXPECT_EQ(Find(With(kSrun, "SLURM_JOB_NODELIST", "gpu[001-009]"))->address, process.address);
}

TEST(ProcessRankTest, AShellInsideOfAJobIsNoProcessOfSrun) {
  EXPECT_FALSE(Find(Without(kSrun, "SLURM_STEP_ID")).has_value());
  // The step number of a shell that salloc started, with use_interactive_step.
  EXPECT_FALSE(Find(With(kSrun, "SLURM_STEP_ID", "4294967290")).has_value());
}

TEST(ProcessRankTest, TheInnermostLauncherCounts) {
  Variables all = kSrun;
  all.insert(kMpirun.begin(), kMpirun.end());
  EXPECT_EQ(Find(all)->size, 2);
  all.insert(kTorchrun.begin(), kTorchrun.end());
  EXPECT_EQ(Find(all)->size, 8);
}

TEST(ProcessRankTest, AVariableThatIsNotSetIsNamed) {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}) {
    EXPECT_EQ(Error(Without(kTorchrun, name)),
              std::string(name) + ": got none, want what torchrun sets");
    EXPECT_EQ(Error(With(kTorchrun, name, "")),
              std::string(name) + ": got none, want what torchrun sets");
  }
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                           "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"}) {
    EXPECT_EQ(Error(Without(kMpirun, name)),
              std::string(name) + ": got none, want what mpirun sets");
  }
  for (const char* name :
       {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID", "SLURM_STEP_NODELIST"}) {
    EXPECT_EQ(Error(Without(kSrun, name)), std::string(name) + ": got none, want what srun sets");
  }
}

TEST(ProcessRankTest, NumbersThatContradictEachOtherAreRefused) {
  EXPECT_EQ(Error(With(kTorchrun, "RANK", "8")), "RANK: got \"8\", want 0 to 7");
  EXPECT_EQ(Error(With(kTorchrun, "RANK", "-1")), "RANK: got \"-1\", want 0 to 7");
  EXPECT_EQ(Error(With(kTorchrun, "RANK", "1x")), "RANK: got \"1x\", want 0 to 7");
  EXPECT_EQ(Error(With(kTorchrun, "LOCAL_RANK", "8")), "LOCAL_RANK: got \"8\", want 0 to 7");
  EXPECT_EQ(Error(With(kTorchrun, "WORLD_SIZE", "0")), "WORLD_SIZE: got \"0\", want 1 to 1000000");
  EXPECT_EQ(Error(With(kTorchrun, "MASTER_PORT", "65536")),
            "MASTER_PORT: got \"65536\", want 1 to 65534");
  EXPECT_EQ(Error(With(kMpirun, "OMPI_COMM_WORLD_LOCAL_SIZE", "3")),
            "OMPI_COMM_WORLD_LOCAL_SIZE: got \"3\", want 2 to 2");
}

TEST(ProcessRankTest, TheFirstHostOfASlurmList) {
  EXPECT_EQ(FirstHost("login1"), "login1");
  EXPECT_EQ(FirstHost("login1,login2"), "login1");
  EXPECT_EQ(FirstHost("gpu[003-005,9],login1"), "gpu003");
  EXPECT_EQ(FirstHost("rack[1,2]-gpu[07]"), "rack1-gpu07");
  EXPECT_EQ(ErrorOf([] { FirstHost("gpu[003"); }),
            "SLURM_STEP_NODELIST: got \"gpu[003\", want a list of hosts");
}

}  // namespace
}  // namespace stagecraft
