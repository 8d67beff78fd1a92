#include "tools/ranks/mpi_team.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <system_error>

#include "costmodel/check.h"
#include "runtime/pauses.h"
#include "search/packing.h"
#include "search/stopwatch.h"

namespace stagecraft {
namespace {

constexpr int kTag = 0;
// The time between two looks at whether a rank that does not answer has died.
constexpr double kSecondsBetweenLooks = 0.1;

// Returns a text that is the same for two processes that know each other by their process numbers.
std::string PlaceOfProcess() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code error;
  return boot + " " + std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
}

std::string Started(const LaunchedRank& launched) {
  return fmt::format("{} is {} of {}", launched.variable, launched.rank, launched.size);
}

}  // namespace

MpiTeam::MpiTeam(const LaunchedRank& launched) : mpi_(Started(launched)) {
  int provided = 0;
  mpi_.Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  mpi_.Comm_rank(mpi_.world, &rank_);
  mpi_.Comm_size(mpi_.world, &size_);
  processes_.assign(static_cast<size_t>(size_), 0);
  if (rank_ != launched.rank || size_ != launched.size) {
    const std::string seen = fmt::format("{} of {}", rank_, size_);
    mpi_.Finalize();
    throw InputError(
        fmt::format("{}, but for Open MPI this is rank {}: want its own mpirun, or srun --mpi=pmix",
                    Started(launched), seen));
  }
  MeetRanks();
}

MpiTeam::~MpiTeam() {
  if (!has_lost_rank_) mpi_.Finalize();
}

void MpiTeam::MeetRanks() {
  const std::string here = PlaceOfProcess();
  Packer own;
  own(here, getpid());
  const std::vector<std::string> all = Exchange(own.Take());
  for (size_t rank = 0; rank < all.size(); ++rank) {
    std::string place;
    pid_t process = 0;
    Unpacker unpacker(all[rank]);
    unpacker(place, process);
    if (place == here) processes_[rank] = process;
  }
}

bool MpiTeam::HasDied(int rank) const {
  const pid_t process = processes_[static_cast<size_t>(rank)];
  return process != 0 && kill(process, 0) != 0 && errno == ESRCH;
}

std::vector<std::string> MpiTeam::Exchange(const std::string& own) {
  return ExchangeAs(Kind::kData, own);
}

void MpiTeam::Finish() { ExchangeAs(Kind::kEnd, ""); }

void MpiTeam::Fail(const std::string& what, bool is_bad_input) {
  const Kind kind = is_bad_input ? Kind::kBadInput : Kind::kFailure;
  if (!has_lost_rank_) ExchangeAll(static_cast<char>(kind) + what);
}

std::vector<std::string> MpiTeam::ExchangeAs(Kind kind, const std::string& own) {
  std::vector<std::string> all = ExchangeAll(static_cast<char>(kind) + own);
  for (int rank = 0; rank < size_; ++rank) {
    std::string& message = all[static_cast<size_t>(rank)];
    const auto theirs = static_cast<Kind>(message[0]);
    message.erase(0, 1);
    if (theirs == Kind::kBadInput || theirs == Kind::kFailure) {
      throw RankFailure(fmt::format("rank {}: {}", rank, message), theirs == Kind::kBadInput);
    }
    if (theirs != kind) throw UnlikeRanks(rank);
  }
  return all;
}

std::vector<std::string> MpiTeam::ExchangeAll(const std::string& own) {
  if (rank_ != 0) {
    MPI_Request request = Send(own, 0);
    std::vector<std::string> all;
    const std::string packed = Receive(0);
    WaitFor(0, [&] {
      int is_done = 0;
      mpi_.Test(&request, &is_done, MPI_STATUS_IGNORE);
      return is_done != 0;
    });
    Unpacker unpacker(packed);
    unpacker(all);
    return all;
  }
  std::vector<std::string> all{own};
  for (int from = 1; from < size_; ++from) all.push_back(Receive(from));
  Packer packer;
  packer(all);
  const std::string packed = packer.Take();
  std::vector<MPI_Request> requests;
  for (int to = 1; to < size_; ++to) requests.push_back(Send(packed, to));
  for (int to = 1; to < size_; ++to) {
    WaitFor(to, [&] {
      int is_done = 0;
      mpi_.Test(&requests[static_cast<size_t>(to) - 1], &is_done, MPI_STATUS_IGNORE);
      return is_done != 0;
    });
  }
  return all;
}

MPI_Request MpiTeam::Send(const std::string& bytes, int to) const {
  CHECK(bytes.size() <= static_cast<size_t>(std::numeric_limits<int>::max()));
  MPI_Request request = nullptr;
  mpi_.Isend(bytes.data(), static_cast<int>(bytes.size()), mpi_.byte, to, kTag, mpi_.world,
             &request);
  return request;
}

std::string MpiTeam::Receive(int from) {
  int count = 0;
  WaitFor(from, [&] {
    int is_there = 0;
    MPI_Status status;
    mpi_.Iprobe(from, kTag, mpi_.world, &is_there, &status);
    if (is_there != 0) mpi_.Get_count(&status, mpi_.byte, &count);
    return is_there != 0;
  });
  std::string message(static_cast<size_t>(count), '\0');
  mpi_.Recv(message.data(), count, mpi_.byte, from, kTag, mpi_.world, MPI_STATUS_IGNORE);
  return message;
}

void MpiTeam::WaitFor(int rank, const std::function<bool()>& is_done) {
  std::optional<Stopwatch> since_look = Stopwatch();
  bool has_died = false;
  for (Pauses pauses; !is_done(); pauses.Pause()) {
    // A message that it sent before its death may still have come since.
    if (has_died) {
      has_lost_rank_ = true;
      throw RankFailure(fmt::format("rank {} has died, and all others end", rank), false);
    }
    if (since_look->Seconds() < kSecondsBetweenLooks) continue;
    has_died = HasDied(rank);
    since_look.emplace();
  }
}

}  // namespace stagecraft
