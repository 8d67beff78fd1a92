#include "runtime/process_rank.h"

#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/hash.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr int64_t kMostProcesses = 1'000'000;
constexpr int64_t kMostPort = 65'535;
// These ports are below those that Linux assigns by itself (from 32768) and above those of
// services.
constexpr uint64_t kFirstPort = 10'000, kPorts = 20'000;
constexpr int kUsualPort = 29'500;  // torchrun's own default
// From this number on Slurm numbers the steps of a job that srun did not make
// (SLURM_MAX_NORMAL_STEP_ID).
constexpr uint64_t kMostSteps = 0xfffffff0;

// The names of the variables by which a launcher tells a process which one it is.
struct Launcher {
  const char* program;
  const char* rank;
  const char* size;
  const char* local_rank;
};
constexpr Launcher kTorchrun = {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"};
constexpr Launcher kMpirun = {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                              "OMPI_COMM_WORLD_LOCAL_RANK"};
constexpr Launcher kSrun = {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"};

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  bool Has(const char* name) const { return environment_(name) != nullptr; }

  std::string Text(const char* name, const char* program) const {
    const char* value = environment_(name);
    if (value == nullptr || *value == '\0') {
      throw InputError(fmt::format("{}: got none, want what {} sets", name, program));
    }
    return value;
  }

  int Number(const char* name, const char* program, int64_t least, int64_t most) const {
    const std::string text = Text(name, program);
    const std::optional<int64_t> number = ParseNumber<int64_t>(text);
    if (!number || *number < least || *number > most) {
      throw InputError(fmt::format("{}: got \"{}\", want {} to {}", name, text, least, most));
    }
    return static_cast<int>(*number);
  }

  // Whether srun made the step that this process belongs to. sbatch and salloc also set the job's
  // variables, for a shell that srun did not start, and may run the shell as a step of its own.
  bool IsStepOfSrun() const {
    return Has("SLURM_STEP_ID") &&
           std::strtoull(environment_("SLURM_STEP_ID"), nullptr, 10) <= kMostSteps;
  }

  ProcessRank Of(const Launcher& launcher) const {
    const char* program = launcher.program;
    ProcessRank process;
    process.size = Number(launcher.size, program, 1, kMostProcesses);
    process.rank = Number(launcher.rank, program, 0, process.size - 1);
    process.local_rank = Number(launcher.local_rank, program, 0, process.size - 1);
    return process;
  }

 private:
  const Environment& environment_;
};

std::string Address(const std::string& host, int64_t port) {
  // The address of an IPv6 host contains colons.
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

// Returns a port, the same one in all processes that pass the same words.
int64_t PortOf(const std::string& words) {
  return static_cast<int64_t>(kFirstPort + Hash().Add(words).value() % kPorts);
}

ProcessRank FromTorchrun(const Variables& variables) {
  ProcessRank process = variables.Of(kTorchrun);
  if (process.size == 1) return process;
  const std::string host = variables.Text("MASTER_ADDR", kTorchrun.program);
  int port = variables.Number("MASTER_PORT", kTorchrun.program, 1, kMostPort - 1);
  if (variables.Has("TORCHELASTIC_USE_AGENT_STORE") &&
      variables.Text("TORCHELASTIC_USE_AGENT_STORE", kTorchrun.program) == "True") {
    ++port;
  }
  process.address = Address(host, port);
  return process;
}

ProcessRank FromMpirun(const Variables& variables) {
  ProcessRank process = variables.Of(kMpirun);
  if (process.size == 1) return process;
  const int here = variables.Number("OMPI_COMM_WORLD_LOCAL_SIZE", kMpirun.program,
                                    process.local_rank + 1, process.size);
  if (variables.Has("MASTER_ADDR")) {
    const int port = variables.Has("MASTER_PORT")
                         ? variables.Number("MASTER_PORT", kMpirun.program, 1, kMostPort)
                         : kUsualPort;
    process.address = Address(variables.Text("MASTER_ADDR", kMpirun.program), port);
    return process;
  }
  if (here < process.size) {
    throw InputError(fmt::format(
        "MASTER_ADDR: got none for {} processes of which {} are here, want the host of rank 0: "
        "mpirun -x MASTER_ADDR=HOST",
        process.size, here));
  }
  // The port depends on the job, so that two runs on one host do not meet.
  const char* const job = "PMIX_NAMESPACE";
  process.address = Address(
      "127.0.0.1", variables.Has(job) ? PortOf(variables.Text(job, kMpirun.program)) : kUsualPort);
  return process;
}

ProcessRank FromSrun(const Variables& variables) {
  ProcessRank process = variables.Of(kSrun);
  if (process.size == 1) return process;
  // A step may use only some hosts of its job, and share them with other steps.
  process.address = Address(FirstHost(variables.Text("SLURM_STEP_NODELIST", kSrun.program)),
                            PortOf(variables.Text("SLURM_JOB_ID", kSrun.program) + "." +
                                   variables.Text("SLURM_STEP_ID", kSrun.program)));
  return process;
}

}  // namespace

std::optional<ProcessRank> FindProcessRank(const Environment& environment) {
  const Variables variables(environment);
  const auto any = [&](const Launcher& launcher) {
    return variables.Has(launcher.rank) || variables.Has(launcher.size) ||
           variables.Has(launcher.local_rank);
  };
  if (any(kTorchrun)) return FromTorchrun(variables);
  if (any(kMpirun)) return FromMpirun(variables);
  if (variables.IsStepOfSrun() && any(kSrun)) return FromSrun(variables);
  return std::nullopt;
}

std::optional<ProcessRank> FindProcessRank() {
  return FindProcessRank([](const char* name) { return std::getenv(name); });
}

std::string FirstHost(const std::string& hostlist) {
  std::string host;
  for (size_t at = 0; at < hostlist.size() && hostlist[at] != ','; ++at) {
    if (hostlist[at] != '[') {
      host += hostlist[at];
      continue;
    }
    const size_t end = hostlist.find(']', at);
    const std::string_view first =
        std::string_view(hostlist).substr(at + 1, hostlist.find_first_of("-,]", at) - at - 1);
    if (end == std::string::npos || first.empty()) {
      throw InputError(
          fmt::format("SLURM_STEP_NODELIST: got \"{}\", want a list of hosts", hostlist));
    }
    host += first;
    at = end;
  }
  return host;
}

}  // namespace stagecraft
