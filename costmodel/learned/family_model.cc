#include "costmodel/learned/family_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/kernel_model.h"
#include "costmodel/learned/calibration.h"
#include "costmodel/learned/gpu_range.h"
#include "costmodel/learned/kernel_families.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

constexpr size_t kFewRows = 200;  // of a GPU type
constexpr double kRoofline = 0.98;
// The spread is learned on at most this many rows, in this many folds; the spread on unknown GPU
// types in the same way, with fewer trees.
constexpr size_t kMostSpreadRows = 60'000;
constexpr size_t kMostUnknownRows = 40'000;
constexpr int kFolds = 3;
constexpr int kFewerTrees = 3;

// The spread is believed as if this many rows had shown it; no row counts for more than
// kMostSigmas.
constexpr double kPriorRows = 10;
constexpr double kMostSigmas = 4;

// From this many doublings on an op is far from the sizes of the samples.
constexpr double kFarDoublings = 1;

int FoldOf(const Op& op) { return static_cast<int>(Random(ShapeOf(op)).Integer(0, kFolds - 1)); }

KnownGpu GpuFromProto(const GpuConstantsProto& proto, const KernelFamily& family,
                      const std::string& place) {
  if (proto.constants_size() != static_cast<int>(family.constants().size())) {
    throw InputError(fmt::format("{}.constants: got {}, want {}", place, proto.constants_size(),
                                 family.constants().size()));
  }
  KnownGpu gpu{AsSampled(DeviceFromProto(proto.device(), place + ".device")),
               {proto.constants().begin(), proto.constants().end()},
               proto.share(),
               proto.offset(),
               proto.nearness(),
               SmoothResidual::FromProto(proto.residual(), place + ".residual"),
               proto.widening() == 0 ? 1 : proto.widening(),
               proto.calibrated()};
  CheckKnownGpu(gpu, family, place);
  return gpu;
}

GpuConstantsProto GpuToProto(const KnownGpu& gpu) {
  GpuConstantsProto proto;
  *proto.mutable_device() = ToProto(gpu.device);
  for (const double constant : gpu.constants) proto.add_constants(constant);
  proto.set_share(gpu.share);
  proto.set_offset(gpu.offset);
  proto.set_nearness(gpu.nearness);
  if (gpu.widening != 1) proto.set_widening(gpu.widening);
  if (gpu.is_calibrated) proto.set_calibrated(true);
  if (!gpu.residual.is_zero()) *proto.mutable_residual() = gpu.residual.ToProto();
  return proto;
}

}  // namespace

FamilyModel FamilyModel::Fit(const KernelFamily& family, std::span<const FitRow> all) {
  FamilyModel model(family);
  for (const FitRow& row : all) model.sizes_.Add(*row.op);
  const std::map<std::string, std::vector<FitRow>> by_gpu = ByGpu(all);
  std::vector<FitRow> rows;
  for (const FitRow& row : all) {
    if (by_gpu.at(row.device->id).size() >= kFewRows) rows.push_back(row);
  }
  if (!rows.empty()) model.Learn(rows);
  for (const auto& [id, own] : by_gpu) {
    if (own.size() < kFewRows) model = model.Moved(own, /*is_calibrated=*/false).model;
  }
  return model;
}

void FamilyModel::Learn(std::span<const FitRow> rows) {
  known_ = KnownGpus(*family_, rows);
  FitTrees(rows, family_->learning().boosting);
  FitSpread(rows);
}

DescribedOps FamilyModel::Describe(std::span<const FitRow> rows) const {
  DescribedOps described;
  described.features.reserve(rows.size() * static_cast<size_t>(family_->feature_count()));
  std::map<const Device*, GpuSetting> settings;
  for (const FitRow& row : rows) {
    const auto [entry, is_new] = settings.try_emplace(row.device);
    if (is_new) entry->second = known_.SettingOf(*row.device);
    described.Add(*family_, *row.op, *row.device, entry->second.constants);
  }
  return described;
}

void FamilyModel::FitTrees(std::span<const FitRow> rows, const BoostingOptions& options) {
  if (options.rounds == 0 || rows.empty()) return;
  const DescribedOps described = Describe(rows);
  std::vector<float> targets, weights;
  for (size_t i = 0; i < rows.size(); ++i) {
    targets.push_back(static_cast<float>(rows[i].log_seconds - described.log_seconds[i]));
    weights.push_back(static_cast<float>(family_->Weight(*rows[i].op)));
  }
  trees_ =
      BoostedTrees::Train(described.features, family_->feature_count(), targets, weights, options);
}

std::vector<double> FamilyModel::Errors(std::span<const FitRow> rows) const {
  std::vector<double> errors(rows.size());
  std::map<const Device*, std::vector<size_t>> by_device;
  for (size_t i = 0; i < rows.size(); ++i) by_device[rows[i].device].push_back(i);
  for (const auto& [device, indices] : by_device) {
    std::vector<Op> ops;
    for (const size_t i : indices) ops.push_back(*rows[i].op);
    const std::vector<LogTime> times = Predict(ops, *device);
    for (size_t i = 0; i < indices.size(); ++i) {
      errors[indices[i]] = std::abs(times[i].log_seconds - rows[indices[i]].log_seconds);
    }
  }
  return errors;
}

// Judges shapes, and then GPU types, by trees that were trained on the other ones. The constants
// were fitted on all shapes, which hardly matters since they are a few numbers from thousands of
// rows, but not on the GPU type that is left out.
void FamilyModel::FitSpread(std::span<const FitRow> all) {
  const Learning learning = family_->learning();
  std::vector<FitRow> rows = Thin(all, kMostSpreadRows);
  std::vector<double> errors(rows.size());
  for (int fold = 0; fold < kFolds; ++fold) {
    std::vector<FitRow> train, test;
    std::vector<size_t> test_at;
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool is_test = FoldOf(*rows[i].op) == fold;
      (is_test ? test : train).push_back(rows[i]);
      if (is_test) test_at.push_back(i);
    }
    FamilyModel part(*family_);
    part.known_ = known_;
    part.FitTrees(train, learning.boosting);
    const std::vector<double> own = part.Errors(test);
    for (size_t i = 0; i < own.size(); ++i) errors[test_at[i]] = own[i];
  }
  spread_.LearnKnown(Describe(rows).features, family_->feature_count(), errors);

  if (known_.gpus().size() < 2) return;
  rows = Thin(all, kMostUnknownRows);
  BoostingOptions options = learning.boosting;
  options.rounds = learning.unknown_share > 0 ? options.rounds / kFewerTrees : 0;
  errors.clear();
  std::vector<float> features;
  for (const KnownGpu& gpu : known_.gpus()) {
    std::vector<FitRow> train, test;
    for (const FitRow& row : rows) {
      (row.device->id == gpu.device.id ? test : train).push_back(row);
    }
    FamilyModel part(*family_);
    part.known_ =
        learning.has_own_constants ? known_.Without(gpu.device.id) : KnownGpus(*family_, train);
    part.FitTrees(train, options);
    const std::vector<double> own = part.Errors(test);
    errors.insert(errors.end(), own.begin(), own.end());
    const DescribedOps described = part.Describe(test);
    features.insert(features.end(), described.features.begin(), described.features.end());
  }
  spread_.LearnUnknown(features, errors);
}

std::vector<LogTime> FamilyModel::Predict(std::span<const Op> ops, const Device& device) const {
  const Device measured = AsSampled(device);
  Device running = device.clock_share < 1 ? AtClockShare(device) : measured;
  running.is_busy = device.is_busy;
  const GpuSetting setting = known_.SettingOf(measured);
  const CorrectedTimes corrected(*family_, trees_, measured, running, setting);
  const DescribedOps described = corrected.Describe(ops);
  const std::vector<double> logs = corrected.Of(ops, described);
  const std::vector<double> spreads = spread_.Of(described.features, ops.size(), setting.nearness);
  const Learning learning = family_->learning();
  std::vector<LogTime> times(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    double log_seconds = logs[i] + setting.offset;
    const double bound = kRoofline * RooflineTime(ops[i], measured).seconds();
    if (bound > 0) log_seconds = std::max(log_seconds, std::log(bound));
    const double beyond = sizes_.DoublingsBeyond(ops[i]);
    times[i] = {log_seconds,
                std::hypot(spreads[i] * setting.widening, learning.spread_of_doubling * beyond),
                setting.is_measured, setting.is_calibrated, beyond >= kFarDoublings};
  }
  return times;
}

CalibratedFamily FamilyModel::Calibrated(std::span<const FitRow> rows) const {
  return Moved(rows, /*is_calibrated=*/true);
}

CalibratedFamily FamilyModel::Moved(std::span<const FitRow> rows, bool is_calibrated) const {
  CHECK(!rows.empty());
  Calibration calibration = Calibrate(*family_, trees_, known_.SettingOf(*rows[0].device), rows);
  calibration.gpu.is_calibrated = is_calibrated;
  CheckKnownGpu(calibration.gpu, *family_, "calibration");
  CalibratedFamily calibrated{*this, std::move(calibration.changes)};
  for (const FitRow& row : rows) calibrated.model.sizes_.Add(*row.op);
  calibrated.model.known_.Put(calibration.gpu);
  calibration.gpu.widening = calibrated.model.WideningBy(rows);
  calibrated.model.known_.Put(std::move(calibration.gpu));
  return calibrated;
}

double FamilyModel::WideningBy(std::span<const FitRow> rows) const {
  std::vector<Op> ops;
  for (const FitRow& row : rows) ops.push_back(*row.op);
  const std::vector<LogTime> times = Predict(ops, *rows[0].device);
  double squares = kPriorRows;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double sigmas = (times[i].log_seconds - rows[i].log_seconds) / times[i].spread;
    squares += std::min(sigmas * sigmas, kMostSigmas * kMostSigmas);
  }
  const double widening = std::sqrt(squares / (kPriorRows + static_cast<double>(rows.size())));
  return std::clamp(widening, kLeastWidening, kMostWidening);
}

FamilyModel FamilyModel::FromProto(const FamilyModelProto& proto, const std::string& name) {
  return FromParts(proto, BoostedTrees::FromProto(proto.trees(), name + ".trees"),
                   BoostedTrees::FromProto(proto.spread_trees(), name + ".spread_trees"), name);
}

FamilyModel FamilyModel::FromParts(const FamilyModelProto& proto, BoostedTrees trees,
                                   BoostedTrees spread_trees, const std::string& name) {
  const auto families = KernelFamilies();
  const auto family = std::find_if(families.begin(), families.end(), [&](const auto* candidate) {
    return proto.family() == candidate->name();
  });
  if (family == families.end()) {
    throw InputError(fmt::format("{}.family: got \"{}\", which this version does not know", name,
                                 proto.family()));
  }
  const auto features = (*family)->feature_names();
  if (!std::equal(features.begin(), features.end(), proto.feature_names().begin(),
                  proto.feature_names().end())) {
    throw InputError(fmt::format(
        "{}.feature_names: got names other than those of {}, want a file fitted by this version",
        name, (*family)->name()));
  }
  FamilyModel model(**family);
  for (int i = 0; i < proto.boards_size(); ++i) {
    model.known_.Put(
        GpuFromProto(proto.boards(i), **family, fmt::format("{}.boards[{}]", name, i)));
  }
  model.trees_ = std::move(trees);
  model.spread_ = Spread::FromProto(proto, std::move(spread_trees), name);
  model.sizes_ = SampledSizes::FromProto(proto, name);
  const auto check_columns = [&](const BoostedTrees& of, const char* field) {
    if (of.empty() || of.columns() == (*family)->feature_count()) return;
    throw InputError(fmt::format("{}.{}: got {} columns, want the {} features of {}", name, field,
                                 of.columns(), (*family)->feature_count(), (*family)->name()));
  };
  check_columns(model.trees_, "trees");
  check_columns(model.spread_.trees(), "spread_trees");
  return model;
}

FamilyModelProto FamilyModel::ToProto() const {
  FamilyModelProto proto;
  proto.set_family(family_->name());
  for (const KnownGpu& gpu : known_.gpus()) {
    *proto.add_boards() = GpuToProto(gpu);
  }
  for (const char* feature : family_->feature_names()) proto.add_feature_names(feature);
  *proto.mutable_trees() = trees_.ToProto();
  spread_.AddTo(proto);
  sizes_.AddTo(proto);
  return proto;
}

}  // namespace stagecraft
