// MPI's communicator of a group; for the files that call MPI.
#pragma once

#include <openmpi/mpi.h>

#include "runtime/mpi_world.h"

namespace stagecraft {

struct MpiWorld::Group {
  explicit Group(MPI_Comm handle) : handle(handle) {}
  ~Group() { MPI_Comm_free(&handle); }
  Group(const Group&) = delete;

  MPI_Comm handle;
};

}  // namespace stagecraft
