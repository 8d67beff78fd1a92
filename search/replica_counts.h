// ReplicaCounts: how many replicas the plans of a part of the devices have.
#pragma once

#include <cstdint>
#include <vector>

namespace stagecraft {

// ReplicaCounts says how many devices the plans of a part use, and so how many replicas they have.
class ReplicaCounts {
 public:
  // Returns the largest number of replicas, each of so many devices, that is tried and less than
  // `below`; 0 if there is none.
  int LargestBelow(int64_t replica_devices, int64_t below) const;

 private:
  friend class DegreeSpace;
  std::vector<bool> is_count_;  // by number of devices: any number of replicas may share them
  // Other numbers of devices from this one on are tried if the replicas divide the batch; 0: none.
  int least_devices_ = 0;
  int64_t batch_ = 0;
  int data_ = 0;  // 0: any number of replicas
};

}  // namespace stagecraft
