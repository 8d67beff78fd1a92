#include "runtime/rank_launcher.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <regex>

#include "costmodel/check.h"
#include "runtime/processor_count.h"
#include "runtime/scratch_folder.h"

namespace stagecraft {
namespace {

constexpr const char* kMark = "stagecraft: ";

std::string KilledBy(const std::string& rank, const std::string& signal) {
  return fmt::format("rank {}: killed by signal {}", rank, signal);
}

// Returns, as a sentence, what mpirun says about a process that died; empty if the text is about
// something else.
std::string DeathIn(const std::string& text) {
  static const std::regex kSignal("process rank ([0-9]+) .*exited on signal ([0-9]+)");
  std::smatch match;
  if (!std::regex_search(text, match, kSignal)) return "";
  return KilledBy(match[1].str(), match[2].str());
}

// Returns a folder whose files are in memory, if there is one.
std::filesystem::path SharedMemoryFolder() {
  const std::filesystem::path memory = "/dev/shm";
  return access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

// Returns a port on which no process listens, and which Linux does not assign to another for a
// while.
int FreePort() {
  const int end = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(end >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  CHECK(bind(end, any, size) == 0 && getsockname(end, any, &size) == 0);
  close(end);
  return ntohs(address.sin_port);
}

}  // namespace

LaunchEnd LaunchRanks(int ranks, const std::vector<std::string>& command,
                      const std::function<void(const std::string& line)>& line,
                      const std::atomic<bool>* stop) {
  const ScratchFolder shared(SharedMemoryFolder());
  ChildProcess mpirun{
      {"mpirun", "--oversubscribe", "-n", std::to_string(ranks)},
      {// Ranks leave their CPU to others by themselves (pauses.h). MPI would do that while it holds
       // locks.
       "OMPI_MCA_mpi_yield_when_idle=0",
       // A message of up to this many bytes leaves at once, whatever its receiver is doing.
       "OMPI_MCA_btl_vader_eager_limit=65536",
       // mpirun names its files after its own process number. Another process may have the same
       // number, in a container that shares the folder of these files.
       "OMPI_MCA_btl_vader_backing_directory=" + shared.path(),
       "OMPI_MCA_orte_tmpdir_base=" + shared.path(),
       // A collective keeps the memory that it allocates instead of asking for it again.
       "MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=1099511627776",
       // In containers, the user is root.
       "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}};
  const bool fits = ranks <= ProcessorCount();
  // Allows two ranks on a core that runs two threads.
  for (const char* word : {"--bind-to", fits ? "core:overload-allowed" : "none"}) {
    mpirun.command.emplace_back(word);
  }
  mpirun.command.insert(mpirun.command.end(), command.begin(), command.end());
  LaunchEnd end;
  try {
    const auto hear = [&](const ChildLine& own) {
      if (own.text.starts_with(kMark)) {
        line(own.text.substr(std::strlen(kMark)));
      } else if (end.death.empty()) {
        end.death = DeathIn(own.text);
      }
    };
    const ChildrenEnd ended = RunProcesses({mpirun}, hear, stop);
    end.exit_code = ended.exit_code;
    end.was_stopped = ended.was_stopped;
  } catch (const InputError& error) {
    throw InputError(std::string(error.what()) + ", want Debian's package openmpi-bin");
  }
  return end;
}

LaunchEnd LaunchBareRanks(int ranks, const std::vector<std::string>& command,
                          const std::function<void(const ChildLine&)>& line) {
  const int port = FreePort();
  std::vector<ChildProcess> processes;
  for (int rank = 0; rank < ranks; ++rank) {
    processes.push_back(
        {command,
         {fmt::format("RANK={}", rank), fmt::format("LOCAL_RANK={}", rank),
          fmt::format("WORLD_SIZE={}", ranks), "MASTER_ADDR=127.0.0.1",
          fmt::format("MASTER_PORT={}", port), "TORCHELASTIC_USE_AGENT_STORE=False"}});
  }
  const ChildrenEnd ended = RunProcesses(processes, line);
  LaunchEnd end{ended.exit_code, "", ended.failed};
  if (ended.signal > 0) {
    end.death = KilledBy(std::to_string(ended.failed), std::to_string(ended.signal));
  } else if (ended.failed >= 0) {
    end.death = fmt::format("rank {}: ended with code {}", ended.failed, ended.exit_code);
  }
  return end;
}

std::string RankLine(const std::string& text) { return kMark + text + "\n"; }

}  // namespace stagecraft
