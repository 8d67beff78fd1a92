#include "runtime/mpi_world.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "costmodel/check.h"
#include "runtime/mpi_group.h"
#include "runtime/pauses.h"

namespace stagecraft {
namespace {

int64_t Nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// Returns the offset of rank 0's clock from this one. Of several round trips the quickest gives the
// most precise offset.
int64_t ClockOffset(int rank, int size) {
  constexpr int kTrips = 50;
  int64_t offset = 0;
  for (int other = 1; other < size; ++other) {
    if (rank != 0 && rank != other) continue;
    int64_t quickest = -1;
    for (int trip = 0; trip < kTrips; ++trip) {
      if (rank == 0) {
        int64_t now = 0;
        MPI_Recv(&now, 1, MPI_INT64_T, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        now = Nanoseconds();
        MPI_Send(&now, 1, MPI_INT64_T, other, 0, MPI_COMM_WORLD);
        continue;
      }
      const int64_t sent = Nanoseconds();
      int64_t theirs = sent;
      MPI_Send(&theirs, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD);
      MPI_Recv(&theirs, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const int64_t back = Nanoseconds();
      if (quickest >= 0 && back - sent >= quickest) continue;
      quickest = back - sent;
      offset = theirs - (sent + back) / 2;
    }
  }
  return offset;
}

// Does the same as MPI_Wait(), but leaves the CPU to other ranks in the meantime.
void Wait(MPI_Request request) {
  for (Pauses pauses;; pauses.Pause()) {
    int is_over = 0;
    MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    if (is_over != 0) return;
  }
}

}  // namespace

MpiWorld::MpiWorld() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  if (provided < MPI_THREAD_SERIALIZED) Abort("MPI supports only one thread\n");
  AlignClocks();
}

MpiWorld::~MpiWorld() {
  groups_.clear();
  MPI_Finalize();
}

void MpiWorld::AlignClocks() {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int ranks = 0;
  MPI_Comm_size(host, &ranks);
  MPI_Comm_free(&host);
  int least = 0;
  MPI_Allreduce(&ranks, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (least < size_) clock_offset_ = Duration::Nanoseconds(ClockOffset(rank_, size_));
}

std::string MpiWorld::Software() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, static_cast<size_t>(length));
  return version.substr(0, version.find(','));
}

void MpiWorld::Barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  Wait(request);
}

void MpiWorld::Max(std::span<int64_t> values) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_MAX,
                 MPI_COMM_WORLD, &request);
  Wait(request);
}

Duration MpiWorld::Now() const { return Duration::Nanoseconds(Nanoseconds()) + clock_offset_; }

void MpiWorld::Abort(const std::string& why) {
  std::fputs(why.c_str(), stderr);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

MpiWorld::Group& MpiWorld::GroupOf(const std::vector<int32_t>& ranks, int lane) {
  std::unique_ptr<Group>& known = groups_[{ranks, lane}];
  if (known) return *known;
  MPI_Group world = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const std::vector<int> ints(ranks.begin(), ranks.end());
  MPI_Group_incl(world, static_cast<int>(ints.size()), ints.data(), &members);
  MPI_Comm handle = MPI_COMM_NULL;
  MPI_Comm_create_group(MPI_COMM_WORLD, members, lane, &handle);
  MPI_Group_free(&members);
  MPI_Group_free(&world);
  known = std::make_unique<Group>(handle);
  return *known;
}

}  // namespace stagecraft
