// FamilyModel: what samples taught us of one family of kernels.
//
//   log time = log structured time + share x correction
//
// A board with samples has constants of its own and is corrected in full. A
// board without lies somewhere between those that have: the nearer it is to one,
// in what its row says, the more it takes of that board's constants and of the
// correction; far from all it has their mean, and the share its family believes.
// So estimates change steadily from boards we measured to boards we did not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/boosted_trees.h"
#include "costmodel/learned/fit_constants.h"
#include "costmodel/learned/kernel_family.h"
#include "proto/cost_model.pb.h"

namespace stagecraft {

// The natural logarithm of seconds, and how sure we are.
struct LogTime {
  double log_seconds = 0;
  double spread = 0;         // sigma of log_seconds
  bool is_measured = false;  // the board has samples of the family
};

class FamilyModel {
 public:
  // Learns from all rows. Boards with fewer than 200 teach nothing to others: they
  // are calibrated at the end, as a site's would be. Deterministic.
  static FamilyModel Fit(const KernelFamily& family, std::span<const FitRow> rows);
  // Without any samples: the family's own constants, wide spread.
  explicit FamilyModel(const KernelFamily& family);

  // A copy for the board of a few rows of a site: its constants move as far as
  // the rows tell and their usual spread allows. Of a correction learned elsewhere
  // it keeps half, as another laboratory's library differs.
  FamilyModel Calibrated(std::span<const FitRow> rows) const;

  // One for each op, all of the family; never below 0.98 of the roofline.
  std::vector<LogTime> Predict(std::span<const Op* const> ops, const Device& device) const;

  const KernelFamily& family() const { return *family_; }
  bool has_samples() const { return !boards_.empty(); }
  // Whether there are samples of this very board.
  bool Knows(const Device& device) const;
  // What the last calibration changed: "rate x 1.04, dram x 0.98".
  const std::string& calibration() const { return calibration_; }

  // Throws InputError, `name` first.
  static FamilyModel FromProto(const FamilyModelProto& proto, const std::string& name);
  FamilyModelProto ToProto() const;

 private:
  struct Board {
    Device device;
    std::vector<double> constants;
    double share = 1;     // of the correction
    double offset = 0;    // of the logarithm
    double nearness = 1;  // less where only a site's few samples are of it
  };
  // What a device is predicted with.
  struct Setting {
    std::vector<double> constants;
    double share = 0;
    double offset = 0;
    double nearness = 0;  // 1: a board with samples
    bool is_measured = false;
  };

  Setting SettingOf(const Device& device) const;
  void Learn(std::span<const FitRow> rows);
  void FitBoards(std::span<const FitRow> rows);
  void FitTrees(std::span<const FitRow> rows, const BoostingOptions& options);
  void FitSpread(std::span<const FitRow> rows);
  void FitUnknownSpread(std::span<const FitRow> rows);
  std::vector<float> Features(std::span<const FitRow> rows, std::vector<double>* base) const;

  double Bounded(double correction, double share) const;
  // Structured times and corrections, without any guard.
  std::vector<double> Corrected(std::span<const Op> ops, const Device& device,
                                const Setting& setting) const;
  // `features` and `base` are those of the ops.
  std::vector<double> Guarded(std::span<const Op> ops, const Device& device, const Setting& setting,
                              std::span<const float> features, std::span<const double> base) const;
  void TakeSmallest(std::span<const Op* const> ops, const Device& device, const Setting& setting,
                    std::span<double> results) const;

  const KernelFamily* family_;
  Learning learning_;
  std::vector<Board> boards_;
  BoostedTrees trees_;         // of log(measured / structured)
  BoostedTrees spread_trees_;  // of log |what remains|
  double known_factor_ = 0;    // half of an 80 % interval over what spread_trees_ say
  double unknown_half_;        // the same on a board unlike all we know
  std::string calibration_;
};

}  // namespace stagecraft
