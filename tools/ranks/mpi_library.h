// MpiLibrary: Open MPI's functions. The program is not linked with it, so that it starts as fast
// without MPI, and where there is none.
#pragma once

#include <openmpi/mpi.h>

#include <string>

namespace stagecraft {

class MpiLibrary {
 public:
  // Loads the library. Throws InputError if there is none; `users`, such as "mpirun started 4
  // processes", begins the sentence.
  explicit MpiLibrary(const std::string& users);
  // It stays loaded until the program ends: MPI cannot begin a second time.
  MpiLibrary(const MpiLibrary&) = delete;
  MpiLibrary& operator=(const MpiLibrary&) = delete;

  decltype(&::MPI_Init_thread) Init_thread = nullptr;
  decltype(&::MPI_Finalize) Finalize = nullptr;
  decltype(&::MPI_Comm_rank) Comm_rank = nullptr;
  decltype(&::MPI_Comm_size) Comm_size = nullptr;
  decltype(&::MPI_Isend) Isend = nullptr;
  decltype(&::MPI_Iprobe) Iprobe = nullptr;
  decltype(&::MPI_Get_count) Get_count = nullptr;
  decltype(&::MPI_Recv) Recv = nullptr;
  decltype(&::MPI_Test) Test = nullptr;
  // What mpi.h calls MPI_COMM_WORLD and MPI_BYTE.
  MPI_Comm world = nullptr;
  MPI_Datatype byte = nullptr;

 private:
  // Throws InputError if the library has no such symbol.
  template <typename Pointer>
  void Find(const char* symbol, Pointer& pointer);

  const std::string users_;
  void* handle_ = nullptr;
};

}  // namespace stagecraft
