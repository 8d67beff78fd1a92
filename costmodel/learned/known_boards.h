// KnownBoards: the boards that have samples of a family, and what any other board
// takes from them.
//
// A board with samples has constants of its own and is corrected in full. A board
// without lies somewhere between those that have: the nearer it is to one, in what
// its row says, the more it takes of that board's constants and correction; far
// from all it has their mean, and the share of a correction that its family
// believes. So estimates change steadily from boards we measured to boards we did
// not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/learned/fit_constants.h"
#include "costmodel/learned/kernel_family.h"

namespace stagecraft {

struct KnownBoard {
  Device device;                  // at the boost clock, at which samples are taken
  std::vector<double> constants;  // as many as the family has
  double share = 1;               // of the trees' correction that holds here
  double offset = 0;              // of the logarithm of seconds
  double nearness = 1;            // less where only a site's few samples are of it
};

// What a device is predicted with.
struct BoardSetting {
  std::vector<double> constants;
  double share = 0;
  double offset = 0;
  double nearness = 0;       // to a board with a table of samples: 1 is such a board
  bool is_measured = false;  // it has samples, be they few
};

class KnownBoards {
 public:
  // None. The family must outlive this.
  explicit KnownBoards(const KernelFamily& family) : family_(&family) {}
  // All boards of the rows.
  KnownBoards(const KernelFamily& family, std::span<const FitRow> rows);

  // The device at its boost clock.
  BoardSetting SettingOf(const Device& device) const;
  // Whether there are samples of this very board, whatever its training clock.
  bool Has(const Device& device) const;

  std::span<const KnownBoard> boards() const { return boards_; }
  // A copy that lacks a board.
  KnownBoards Without(const std::string& id) const;
  // In place of what is known of the same device.
  void Put(KnownBoard board);

 private:
  BoardSetting Blend(const Device& device) const;

  const KernelFamily* family_;
  std::vector<KnownBoard> boards_;
};

// The device with all that its clock drives slowed down to its training clock.
Device AtTrainingClock(Device device);
// The device as samples are taken of it: at its boost clock, whatever launches its kernels.
Device AsSampled(Device device);

}  // namespace stagecraft
