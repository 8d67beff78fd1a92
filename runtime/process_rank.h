// ProcessRank: which of a job's processes this one is, and where they meet.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace stagecraft {

struct ProcessRank {
  int rank = 0;
  int size = 1;
  int local_rank = 0;   // among the processes of its host
  std::string address;  // "host:port" where processes meet, on the host of rank 0; empty for one
};

// The value of an environment variable; nullptr if it is not set.
using Environment = std::function<const char*(const char* name)>;

// What the launcher of this process states in its variables; no value if none started it. If
// launchers started launchers the innermost counts, in this order:
//   torchrun   RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT; the next port if
//              torchrun keeps this one to itself (TORCHELASTIC_USE_AGENT_STORE=True)
//   mpirun     Open MPI's OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE; MASTER_ADDR on
//              several hosts
//   srun       SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID in a step that srun made; the first host
//              of SLURM_STEP_NODELIST; a port by SLURM_JOB_ID and SLURM_STEP_ID
// Throws an InputError that names the variable if these are set in part, are not numbers in their
// range, or contradict each other.
std::optional<ProcessRank> FindProcessRank(const Environment& environment);

// The same for the variables of this process.
std::optional<ProcessRank> FindProcessRank();

// "gpu003" for Slurm's "gpu[003-005,9],login1".
std::string FirstHost(const std::string& hostlist);

}  // namespace stagecraft
