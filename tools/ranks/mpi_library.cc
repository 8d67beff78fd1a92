#include "tools/ranks/mpi_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Open MPI 4, as Debian's package libopenmpi3 has it. Handles such as MPI_COMM_WORLD are addresses
// of variables of the library.
constexpr const char* kName = "libmpi.so.40";

}  // namespace

MpiLibrary::MpiLibrary(const std::string& users)
    : users_(users),
      // Its plug-ins look for its symbols among those of the program.
      handle_(dlopen(kName, RTLD_NOW | RTLD_GLOBAL)) {
  if (handle_ == nullptr) {
    const char* const reason = dlerror();
    throw InputError(fmt::format("{}, want Open MPI (Debian's package libopenmpi3): {}", users_,
                                 reason == nullptr ? kName : reason));
  }
  Find("MPI_Init_thread", Init_thread);
  Find("MPI_Finalize", Finalize);
  Find("MPI_Comm_rank", Comm_rank);
  Find("MPI_Comm_size", Comm_size);
  Find("MPI_Isend", Isend);
  Find("MPI_Iprobe", Iprobe);
  Find("MPI_Get_count", Get_count);
  Find("MPI_Recv", Recv);
  Find("MPI_Test", Test);
  Find("ompi_mpi_comm_world", world);
  Find("ompi_mpi_byte", byte);
}

template <typename Pointer>
void MpiLibrary::Find(const char* symbol, Pointer& pointer) {
  pointer = reinterpret_cast<Pointer>(dlsym(handle_, symbol));
  if (pointer == nullptr) {
    throw InputError(fmt::format("{}, want Open MPI, but {} has no {}", users_, kName, symbol));
  }
}

}  // namespace stagecraft
