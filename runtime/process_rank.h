// ProcessRank: which of a job's processes this one is, and where they meet.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace stagecraft {

struct ProcessRank {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among the processes of its host
  // "host:port" where the processes meet, on the host of rank 0; empty if size is 1.
  std::string address;
};

// Returns the value of an environment variable; nullptr if it is not set.
using Environment = std::function<const char*(const char* name)>;

// Returns what the launcher of this process states in its variables; no value if none started it.
// If one launcher started another, the one that comes first here counts. It states:
//   torchrun   RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT; the next port if
//              torchrun uses this one itself (TORCHELASTIC_USE_AGENT_STORE=True)
//   mpirun     Open MPI's OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE; MASTER_ADDR on
//              several hosts
//   srun       SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID in a step that srun made; the first host
//              of SLURM_STEP_NODELIST; a port derived from SLURM_JOB_ID and SLURM_STEP_ID
// Throws an InputError that names the variable if some of these are not set, are not numbers in
// their range, or contradict each other.
std::optional<ProcessRank> FindProcessRank(const Environment& environment);

// Returns the same for the variables of this process.
std::optional<ProcessRank> FindProcessRank();

// Returns the first host of a list of Slurm's: "gpu003" for "gpu[003-005,9],login1".
std::string FirstHost(const std::string& hostlist);

}  // namespace stagecraft
