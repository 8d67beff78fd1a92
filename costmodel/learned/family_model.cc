#include "costmodel/learned/family_model.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/hash.h"
#include "costmodel/kernel_model.h"
#include "costmodel/learned/kernel_families.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

constexpr double kSigmas80 = 1.2816;     // half of a central 80 % interval, in sigmas
constexpr double kWithoutSamples = 0.5;  // half-width where nothing was ever measured
// Spread is learned from |residual| + this, on so many rows, in so many folds.
constexpr double kLeastResidual = 0.005;
constexpr size_t kMostSpreadRows = 60'000;
constexpr size_t kMostUnknownRows = 40'000;
constexpr int kFolds = 3;
constexpr size_t kFewRows = 200;          // of a board
constexpr double kUnknownWidening = 1.2;  // boards differ more than we saw
constexpr double kRoofline = 0.98;
constexpr double kLeastDistance = 1e-6;  // between boards that stand at one place
constexpr double kDoubling = 1.3;        // what twice a size may cost, where corrected upwards
constexpr double kLargeCorrection = 0.2;
// Calibration: sigma of a site's rows, and of an offset common to all.
constexpr double kSiteSigma = 0.06;
constexpr double kOffsetSigma = 0.1;
constexpr double kSiteShare = 0.5;
constexpr double kSiteNearness = 0.5;

// Where a board stands among boards: rates per multiprocessor and clock, sizes.
using Position = std::array<double, 5>;
Position PositionOf(const Device& device) {
  const double sms = device.multiprocessors;
  const double clocks = sms * device.boost_clock_hz;
  const double rate =
      std::max(device.Peak(DType::kFp16).flop_per_s(), device.vector_peak.flop_per_s());
  return {std::log(rate * device.sustained_fraction / clocks),
          0.5 * std::log(device.memory_bandwidth.bytes_per_s() / clocks),
          0.5 * std::log(static_cast<double>(device.l2.count()) / sms), 0.25 * std::log(sms),
          std::log(device.boost_clock_hz)};
}

// 1 for a board itself, half at a third of the way to its square root of two.
double Nearness(const Position& a, const Position& b) {
  constexpr double kWidth = 0.25;
  double square = 0;
  for (size_t i = 0; i < a.size(); ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
  return std::exp(-square / (kWidth * kWidth));
}

// The device with all that its clock drives slowed down.
Device AtTrainingClock(Device device) {
  device.boost_clock_hz *= device.training_clock;
  device.vector_peak = device.TrainingClock(DType::kFp32) * device.vector_peak;
  for (int type = 0; type < kDTypeCount; ++type) {
    device.peak[type] = device.TrainingClock(static_cast<DType>(type)) * device.peak[type];
  }
  return device;
}

// Rows of one shape fall into one fold, whatever their board and row count.
int FoldOf(const Op& op) {
  Hash hash;
  hash.Add(op.n).Add(op.k).Add(op.kind == OpKind::kAttention ? op.sequences : op.batch);
  if (op.kind == OpKind::kElementwise) hash.Add(op.bytes.count());
  return static_cast<int>(Random(hash.value()).Integer(0, kFolds - 1));
}

double Quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// At most `most` rows, evenly spread.
std::vector<FitRow> Thin(std::span<const FitRow> rows, size_t most) {
  std::vector<FitRow> thin;
  const size_t count = std::min(most, rows.size());
  thin.reserve(count);
  for (size_t i = 0; i < count; ++i) thin.push_back(rows[i * rows.size() / count]);
  return thin;
}

void Scale(Op& op, int dimension, int64_t factor) {
  constexpr int64_t kMost = int64_t{1} << 55;
  int64_t& size = dimension == 0 ? op.m : dimension == 1 ? op.n : op.k;
  size = std::min(kMost, size) * factor;
}

}  // namespace

FamilyModel::FamilyModel(const KernelFamily& family)
    : family_(&family), learning_(family.learning()), unknown_half_(kWithoutSamples) {}

FamilyModel FamilyModel::Fit(const KernelFamily& family, std::span<const FitRow> all) {
  FamilyModel model(family);
  std::map<std::string, std::vector<FitRow>> by_board;
  for (const FitRow& row : all) by_board[row.device->id].push_back(row);
  std::vector<FitRow> rows;
  for (const FitRow& row : all) {
    if (by_board[row.device->id].size() >= kFewRows) rows.push_back(row);
  }
  if (!rows.empty()) model.Learn(rows);
  for (const auto& [id, own] : by_board) {
    if (own.size() < kFewRows) model = model.Calibrated(own);
  }
  model.calibration_.clear();
  return model;
}

void FamilyModel::Learn(std::span<const FitRow> rows) {
  FitBoards(rows);
  if (learning_.boosting.rounds > 0) FitTrees(rows, learning_.boosting);
  FitSpread(rows);
  FitUnknownSpread(rows);
}

void FamilyModel::FitBoards(std::span<const FitRow> rows) {
  std::vector<double> common;
  for (const Constant& constant : family_->constants()) common.push_back(constant.value);
  std::map<std::string, std::vector<FitRow>> by_board;
  for (const FitRow& row : rows) by_board[row.device->id].push_back(row);
  const std::vector<double> joint = FitConstants(*family_, common, rows);
  for (const auto& [id, own] : by_board) {
    Board board{*own.front().device, joint};
    if (learning_.has_own_constants) board.constants = FitConstants(*family_, common, own);
    boards_.push_back(std::move(board));
  }
}

FamilyModel::Setting FamilyModel::SettingOf(const Device& device) const {
  Setting setting;
  const size_t count = family_->constants().size();
  if (boards_.empty()) {
    for (const Constant& constant : family_->constants())
      setting.constants.push_back(constant.value);
    setting.offset = std::log(family_->UnknownDeviceFactor(device));
    return setting;
  }
  std::vector<double> near(count, 0), mean(count, 0);  // logarithms
  double sum = 0, share = 0, offset = 0, nearness = 0, closest = 0;
  const Position position = PositionOf(device);
  for (const Board& board : boards_) {
    if (board.device == device) {
      return {board.constants, board.share, board.offset, board.nearness, true};
    }
    const double near_to = Nearness(position, PositionOf(board.device));
    // Grows without bound towards a board, so that it alone counts there.
    const double weight = near_to / (1 - near_to + kLeastDistance);
    closest = std::max(closest, near_to);
    sum += weight;
    share += weight * board.share;
    offset += weight * board.offset;
    nearness += weight * board.nearness;
    for (size_t i = 0; i < count; ++i) {
      near[i] += weight * std::log(board.constants[i]);
      mean[i] += std::log(board.constants[i]) / static_cast<double>(boards_.size());
    }
  }
  const double a = sum > 1e-12 ? closest : 0;
  const double scale = a > 0 ? a / sum : 0;
  for (size_t i = 0; i < count; ++i) {
    setting.constants.push_back(std::exp(scale * near[i] + (1 - a) * mean[i]));
  }
  setting.share = scale * share + (1 - a) * learning_.unknown_share;
  setting.offset = scale * offset + (1 - a) * std::log(family_->UnknownDeviceFactor(device));
  setting.nearness = scale * nearness;
  return setting;
}

std::vector<float> FamilyModel::Features(std::span<const FitRow> rows,
                                         std::vector<double>* base) const {
  const size_t columns = static_cast<size_t>(family_->feature_count());
  std::vector<float> features(rows.size() * columns);
  base->resize(rows.size());
  std::map<const Device*, Setting> settings;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [entry, is_new] = settings.try_emplace(rows[i].device);
    if (is_new) entry->second = SettingOf(*rows[i].device);
    (*base)[i] = std::log(family_->Describe(*rows[i].op, *rows[i].device, entry->second.constants,
                                            std::span(features).subspan(i * columns, columns)));
  }
  return features;
}

void FamilyModel::FitTrees(std::span<const FitRow> rows, const BoostingOptions& options) {
  std::vector<double> base;
  const std::vector<float> features = Features(rows, &base);
  std::vector<float> targets, weights;
  for (size_t i = 0; i < rows.size(); ++i) {
    targets.push_back(static_cast<float>(rows[i].log_seconds - base[i]));
    weights.push_back(static_cast<float>(family_->Weight(*rows[i].op)));
  }
  trees_ = BoostedTrees::Train(features, family_->feature_count(), targets, weights, options);
}

// What remains on shapes that a model of the others has not seen, as a function
// of the features; then the factor that makes intervals hold four rows of five.
void FamilyModel::FitSpread(std::span<const FitRow> all) {
  const std::vector<FitRow> rows = Thin(all, kMostSpreadRows);
  std::vector<double> residuals(rows.size());
  for (int fold = 0; fold < kFolds; ++fold) {
    std::vector<FitRow> train;
    for (const FitRow& row : rows) {
      if (FoldOf(*row.op) != fold) train.push_back(row);
    }
    FamilyModel part(*family_);
    part.boards_ = boards_;
    if (learning_.boosting.rounds > 0 && !train.empty()) part.FitTrees(train, learning_.boosting);
    std::map<const Device*, std::vector<size_t>> by_board;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (FoldOf(*rows[i].op) == fold) by_board[rows[i].device].push_back(i);
    }
    for (const auto& [device, indices] : by_board) {
      std::vector<const Op*> ops;
      for (const size_t i : indices) ops.push_back(rows[i].op);
      const std::vector<LogTime> times = part.Predict(ops, *device);
      for (size_t i = 0; i < indices.size(); ++i) {
        residuals[indices[i]] = std::abs(times[i].log_seconds - rows[indices[i]].log_seconds);
      }
    }
  }
  std::vector<double> base;
  const std::vector<float> features = Features(rows, &base);
  std::vector<float> targets;
  for (const double residual : residuals) {
    targets.push_back(static_cast<float>(std::log(residual + kLeastResidual)));
  }
  const BoostingOptions options = {.rounds = 40,
                                   .max_depth = 5,
                                   .learning_rate = 0.15,
                                   .min_child_weight = 50,
                                   .row_fraction = 0.7,
                                   .column_fraction = 0.5};
  // Centred, as the first trees would only learn the mean.
  double mean = 0;
  for (const float target : targets) mean += target / static_cast<double>(targets.size());
  for (float& target : targets) target -= static_cast<float>(mean);
  spread_trees_ = BoostedTrees::Train(features, family_->feature_count(), targets, {}, options);
  std::vector<double> logs(rows.size(), 0);
  spread_trees_.AddTo(features, logs);
  std::vector<double> ratios;
  for (size_t i = 0; i < rows.size(); ++i) ratios.push_back(residuals[i] / std::exp(logs[i]));
  known_factor_ = Quantile(ratios, 0.8);
}

// Each board in turn as if it had no samples.
void FamilyModel::FitUnknownSpread(std::span<const FitRow> all) {
  if (boards_.size() < 2) {
    unknown_half_ = kWithoutSamples;
    return;
  }
  const std::vector<FitRow> rows = Thin(all, kMostUnknownRows);
  std::vector<double> residuals;
  for (const Board& left_out : boards_) {
    std::vector<FitRow> train;
    std::map<const Device*, std::vector<const FitRow*>> test;
    for (const FitRow& row : rows) {
      if (row.device->id == left_out.device.id) {
        test[row.device].push_back(&row);
      } else {
        train.push_back(row);
      }
    }
    FamilyModel part(*family_);
    for (const Board& board : boards_) {
      if (board.device.id != left_out.device.id) part.boards_.push_back(board);
    }
    BoostingOptions options = learning_.boosting;
    options.rounds /= 3;
    if (options.rounds > 0 && learning_.unknown_share > 0) part.FitTrees(train, options);
    for (const auto& [device, own] : test) {
      std::vector<const Op*> ops;
      for (const FitRow* row : own) ops.push_back(row->op);
      const std::vector<LogTime> times = part.Predict(ops, *device);
      for (size_t i = 0; i < own.size(); ++i) {
        residuals.push_back(std::abs(times[i].log_seconds - own[i]->log_seconds));
      }
    }
  }
  unknown_half_ = kUnknownWidening * Quantile(residuals, 0.8);
}

bool FamilyModel::Knows(const Device& device) const {
  Device measured = device;
  measured.training_clock = 1;
  return std::any_of(boards_.begin(), boards_.end(),
                     [&](const Board& board) { return board.device == measured; });
}

double FamilyModel::Bounded(double correction, double share) const {
  return std::clamp(share * correction, share * learning_.correction_low,
                    share * learning_.correction_high);
}

std::vector<double> FamilyModel::Corrected(std::span<const Op> ops, const Device& device,
                                           const Setting& setting) const {
  const size_t columns = static_cast<size_t>(family_->feature_count());
  std::vector<float> features(ops.size() * columns);
  std::vector<double> results(ops.size()), corrections(ops.size(), 0);
  for (size_t i = 0; i < ops.size(); ++i) {
    results[i] = std::log(family_->Describe(ops[i], device, setting.constants,
                                            std::span(features).subspan(i * columns, columns)));
  }
  if (trees_.empty()) return results;
  trees_.AddTo(features, corrections);
  for (size_t i = 0; i < ops.size(); ++i) {
    results[i] += Bounded(corrections[i], setting.share * family_->Belief(ops[i]));
  }
  return results;
}

// Structured times with their corrections; where one is large and upwards, twice a
// size bounds it.
std::vector<double> FamilyModel::Guarded(std::span<const Op> ops, const Device& device,
                                         const Setting& setting, std::span<const float> features,
                                         std::span<const double> base) const {
  std::vector<double> results(ops.size(), 0);
  trees_.AddTo(features, results);
  for (size_t i = 0; i < ops.size(); ++i) {
    results[i] = base[i] + Bounded(results[i], setting.share * family_->Belief(ops[i]));
  }
  if (!learning_.grows) return results;
  const double lowest = setting.share * learning_.correction_low + std::log(kDoubling);
  std::vector<size_t> bounded;
  std::vector<Op> larger;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (results[i] - base[i] <= kLargeCorrection) continue;
    for (int dimension = 0; dimension < 3; ++dimension) {
      Op twice = ops[i];
      Scale(twice, dimension, 2);
      const double bound = std::log(family_->Describe(twice, device, setting.constants, {}));
      if (bound + lowest >= results[i]) continue;
      bounded.push_back(i);
      larger.push_back(twice);
    }
  }
  const std::vector<double> times = Corrected(larger, device, setting);
  for (size_t i = 0; i < larger.size(); ++i) {
    results[bounded[i]] = std::min(results[bounded[i]], times[i] + std::log(kDoubling));
  }
  return results;
}

// The least over all larger ops by powers of eight: then eight times a size never
// costs less. Structured times grow, so whole branches can be left out; what is
// left is looked at step by step, all ops together.
void FamilyModel::TakeSmallest(std::span<const Op* const> ops, const Device& device,
                               const Setting& setting, std::span<double> results) const {
  struct Branch {
    size_t op;
    int dimension;  // grown last; those before it have been
  };
  const double lowest = setting.share * learning_.correction_low;
  const size_t columns = static_cast<size_t>(family_->feature_count());
  std::vector<float> features;
  std::vector<double> base;
  std::vector<Branch> branches;
  std::vector<Op> grown;  // by branch
  for (size_t i = 0; i < ops.size(); ++i) {
    branches.push_back({i, 0});
    grown.push_back(*ops[i]);
  }
  while (!branches.empty()) {
    std::vector<Branch> next;
    std::vector<Op> larger;
    for (size_t b = 0; b < branches.size(); ++b) {
      for (int d = branches[b].dimension; d < 3; ++d) {
        Op op = grown[b];
        Scale(op, d, 8);
        const double best = results[branches[b].op];
        const double least = family_->LeastTime(op, device, setting.constants);
        if (least > 0 && std::log(least) + lowest >= best) continue;
        const double bound = std::log(family_->Describe(op, device, setting.constants, {}));
        if (bound + lowest >= best) continue;
        next.push_back({branches[b].op, d});
        larger.push_back(op);
      }
    }
    features.resize(larger.size() * columns);
    base.resize(larger.size());
    for (size_t i = 0; i < larger.size(); ++i) {
      base[i] = std::log(family_->Describe(larger[i], device, setting.constants,
                                           std::span(features).subspan(i * columns, columns)));
    }
    const std::vector<double> times = Guarded(larger, device, setting, features, base);
    for (size_t i = 0; i < next.size(); ++i) {
      results[next[i].op] = std::min(results[next[i].op], times[i]);
    }
    branches = std::move(next);
    grown = std::move(larger);
  }
}

std::vector<LogTime> FamilyModel::Predict(std::span<const Op* const> ops,
                                          const Device& training) const {
  // Samples were taken at the boost clock.
  Device device = training;
  device.training_clock = 1;
  const Device slowed = AtTrainingClock(training);
  const Setting setting = SettingOf(device);
  const size_t columns = static_cast<size_t>(family_->feature_count());
  const bool corrects = !trees_.empty() && setting.share > 0;
  const bool spreads = !spread_trees_.empty() && setting.nearness > 0;
  std::vector<float> features(ops.size() * columns);
  std::vector<double> base(ops.size()), spreads_log(ops.size(), 0);
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto row = corrects || spreads ? std::span(features).subspan(i * columns, columns)
                                         : std::span<float>();
    base[i] = std::log(family_->Describe(*ops[i], device, setting.constants, row));
  }
  std::vector<double> results = base;
  if (corrects && learning_.grows) {
    std::vector<Op> copies;
    for (const Op* op : ops) copies.push_back(*op);
    results = Guarded(copies, device, setting, features, base);
    TakeSmallest(ops, device, setting, results);
  } else if (corrects) {
    std::vector<double> corrections(ops.size(), 0);
    trees_.AddTo(features, corrections);
    for (size_t i = 0; i < ops.size(); ++i) {
      results[i] += Bounded(corrections[i], setting.share * family_->Belief(*ops[i]));
    }
  }
  if (spreads) spread_trees_.AddTo(features, spreads_log);
  std::vector<LogTime> times(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    double result = results[i];
    result += setting.offset;
    if (training.training_clock < 1) {
      result += std::log(family_->Describe(*ops[i], slowed, setting.constants, {})) - base[i];
    }
    const double roofline = kRoofline * RooflineTime(*ops[i], device).seconds();
    if (roofline > 0) result = std::max(result, std::log(roofline));
    const double known = setting.nearness * known_factor_ * std::exp(spreads_log[i]);
    const double unknown = (1 - setting.nearness) * unknown_half_;
    times[i] = {result, std::hypot(known, unknown) / kSigmas80, setting.is_measured};
  }
  return times;
}

FamilyModel FamilyModel::Calibrated(std::span<const FitRow> rows) const {
  CHECK(!rows.empty());
  const Device& device = *rows[0].device;
  const Setting prior = SettingOf(device);
  const double reach = prior.is_measured ? 0.5 : 1.0;
  std::vector<size_t> moving;  // constants
  for (size_t i = 0; i < prior.constants.size(); ++i) {
    if (family_->constants()[i].calibration > 0) moving.push_back(i);
  }
  // The correction stays as it is while the constants move.
  std::vector<double> corrections;
  const double share = trees_.empty() ? 0 : std::min(prior.share, kSiteShare);
  for (const FitRow& row : rows) {
    Setting setting = prior;
    setting.share = share;
    const double base = std::log(family_->Describe(*row.op, device, prior.constants, {}));
    corrections.push_back(Corrected({row.op, 1}, device, setting)[0] - base);
  }
  const Eigen::Index count = static_cast<Eigen::Index>(moving.size()) + 1;  // and the offset
  const Eigen::Index row_count = static_cast<Eigen::Index>(rows.size());
  const auto constants_at = [&](const Eigen::VectorXd& z) {
    std::vector<double> constants = prior.constants;
    for (size_t i = 0; i < moving.size(); ++i) {
      const double sigma = family_->constants()[moving[i]].calibration * reach;
      constants[moving[i]] *= std::exp(sigma * z[static_cast<Eigen::Index>(i)]);
    }
    return constants;
  };
  const double offset_sigma = (moving.empty() ? kOffsetSigma : kOffsetSigma / 10) * reach;
  const auto residuals_at = [&](const Eigen::VectorXd& z) {
    const std::vector<double> constants = constants_at(z);
    Eigen::VectorXd residuals(row_count);
    for (Eigen::Index i = 0; i < row_count; ++i) {
      const FitRow& row = rows[static_cast<size_t>(i)];
      const double base = std::log(family_->Describe(*row.op, device, constants, {}));
      residuals[i] = (base + corrections[static_cast<size_t>(i)] + prior.offset +
                      offset_sigma * z[count - 1] - row.log_seconds) /
                     kSiteSigma;
    }
    return residuals;
  };
  const auto loss_at = [](const Eigen::VectorXd& residuals, const Eigen::VectorXd& z) {
    return 2 * ((1 + residuals.array().square()).sqrt() - 1).sum() + z.squaredNorm();
  };
  Eigen::VectorXd z = Eigen::VectorXd::Zero(count);
  Eigen::VectorXd residuals = residuals_at(z);
  double loss = loss_at(residuals, z);
  double damping = 1e-2;
  for (int iteration = 0; iteration < 30 && damping < 1e6; ++iteration) {
    constexpr double kStep = 1e-2;
    Eigen::MatrixXd jacobian(row_count, count);
    for (Eigen::Index c = 0; c < count; ++c) {
      Eigen::VectorXd moved = z;
      moved[c] += kStep;
      jacobian.col(c) = (residuals_at(moved) - residuals) / kStep;
    }
    const Eigen::VectorXd weights = (1 + residuals.array().square()).sqrt().inverse();
    Eigen::MatrixXd normal = jacobian.transpose() * weights.asDiagonal() * jacobian;
    normal.diagonal().array() += 1;
    const Eigen::VectorXd gradient = jacobian.transpose() * weights.asDiagonal() * residuals + z;
    Eigen::MatrixXd damped = normal;
    damped.diagonal() *= 1 + damping;
    const Eigen::VectorXd next = z + damped.ldlt().solve(-gradient);
    const Eigen::VectorXd next_residuals = residuals_at(next);
    const double next_loss = loss_at(next_residuals, next);
    if (next_loss >= loss) {
      damping *= 5;
      continue;
    }
    const bool is_done = loss - next_loss < 1e-7 * loss;
    z = next;
    residuals = next_residuals;
    loss = next_loss;
    damping = std::max(damping / 5, 1e-6);
    if (is_done) break;
  }
  FamilyModel model = *this;
  // A few samples tell less than a table of them: the spread stays near that of
  // an unknown board.
  Board board{device, constants_at(z), share, prior.offset + offset_sigma * z[count - 1],
              std::min(prior.nearness, kSiteNearness)};
  model.calibration_ = fmt::format("{}: all x {:.3f}", family_->name(), std::exp(board.offset));
  for (const size_t i : moving) {
    const double change = board.constants[i] / prior.constants[i];
    if (std::abs(change - 1) < 0.005) continue;
    model.calibration_ += fmt::format(", {} x {:.3f}", family_->constants()[i].name, change);
  }
  std::erase_if(model.boards_, [&](const Board& other) { return other.device == device; });
  model.boards_.push_back(std::move(board));
  return model;
}

FamilyModel FamilyModel::FromProto(const FamilyModelProto& proto, const std::string& name) {
  const KernelFamily* family = nullptr;
  for (const KernelFamily* candidate : KernelFamilies()) {
    if (proto.family() == candidate->name()) family = candidate;
  }
  if (family == nullptr) {
    throw InputError(
        fmt::format("{}.family: got \"{}\", which is none of ours", name, proto.family()));
  }
  FamilyModel model(*family);
  for (int i = 0; i < proto.boards_size(); ++i) {
    const BoardConstantsProto& board = proto.boards(i);
    const std::string place = fmt::format("{}.boards[{}]", name, i);
    if (board.constants_size() != static_cast<int>(family->constants().size())) {
      throw InputError(fmt::format("{}.constants: got {}, want {}", place, board.constants_size(),
                                   family->constants().size()));
    }
    for (const double constant : board.constants()) {
      if (std::isfinite(constant) && constant > 0) continue;
      throw InputError(fmt::format("{}.constants: got {}, want a number above 0", place, constant));
    }
    const bool are_shares =
        board.share() >= 0 && board.share() <= 1 && board.nearness() >= 0 && board.nearness() <= 1;
    if (!std::isfinite(board.offset()) || !are_shares) {
      throw InputError(fmt::format(
          "{}: got share {}, nearness {} and offset {}, want two numbers of 0 to 1 and a number",
          place, board.share(), board.nearness(), board.offset()));
    }
    model.boards_.push_back({DeviceFromProto(board.device(), place + ".device"),
                             {board.constants().begin(), board.constants().end()},
                             board.share(),
                             board.offset(),
                             board.nearness()});
  }
  const auto trees = [&](const BoostedTreesProto& from, const char* field) {
    BoostedTrees read = BoostedTrees::FromProto(from, fmt::format("{}.{}", name, field));
    if (!read.empty() && read.columns() != family->feature_count()) {
      throw InputError(fmt::format("{}.{}: got {} columns, want the {} features of {}", name, field,
                                   read.columns(), family->feature_count(), family->name()));
    }
    return read;
  };
  model.trees_ = trees(proto.trees(), "trees");
  model.spread_trees_ = trees(proto.spread_trees(), "spread_trees");
  for (const double half : {proto.known_factor(), proto.unknown_half()}) {
    if (std::isfinite(half) && half >= 0) continue;
    throw InputError(fmt::format("{}: got a width of {}, want at least 0", name, half));
  }
  model.known_factor_ = proto.known_factor();
  model.unknown_half_ = proto.unknown_half();
  return model;
}

FamilyModelProto FamilyModel::ToProto() const {
  FamilyModelProto proto;
  proto.set_family(family_->name());
  for (const Board& board : boards_) {
    BoardConstantsProto& out = *proto.add_boards();
    *out.mutable_device() = stagecraft::ToProto(board.device);
    for (const double constant : board.constants) out.add_constants(constant);
    out.set_share(board.share);
    out.set_offset(board.offset);
    out.set_nearness(board.nearness);
  }
  for (const char* feature : family_->feature_names()) proto.add_feature_names(feature);
  *proto.mutable_trees() = trees_.ToProto();
  *proto.mutable_spread_trees() = spread_trees_.ToProto();
  proto.set_known_factor(known_factor_);
  proto.set_unknown_half(unknown_half_);
  return proto;
}

}  // namespace stagecraft
