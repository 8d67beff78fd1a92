#include "costmodel/learned/learned_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <iterator>
#include <map>

#include "costmodel/check.h"
#include "costmodel/compute_slowdown.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/kernel_model.h"
#include "costmodel/learned/kernel_families.h"
#include "costmodel/learned/training_rows.h"
#include "costmodel/proto_file.h"
#include "costmodel/sparse_product.h"
#include "data/embedded.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 2;  // in 1, the L2 rate of GEMMs was in other units

Basis BasisOf(const LogTime& time, bool is_derived) {
  if (!time.is_measured || is_derived || time.is_far) return Basis::kExtrapolated;
  return time.is_calibrated ? Basis::kCalibrated : Basis::kLearned;
}

void CheckSchema(const CostModelProto& proto, const std::string& name) {
  if (proto.schema() != kSchema) {
    const bool is_older = proto.schema() > 0 && proto.schema() < kSchema;
    throw InputError(
        fmt::format("{}: schema: got {}, want {}; {}", name, proto.schema(), kSchema,
                    is_older ? "an older version fitted it: fit it again" : "is it a cost model?"));
  }
}

SiteFactors SiteFromProto(const SiteFactorsProto& proto, const std::string& name) {
  const auto factor = [&](const char* field, double value) {
    if (value == 0) return 1.0;
    if (value >= kLeastSiteFactor && value <= kMostSiteFactor) return value;
    throw InputError(fmt::format("{}: site.{}: got {:g}, want from {:g} to {:g}", name, field,
                                 value, kLeastSiteFactor, kMostSiteFactor));
  };
  return {factor("compute_speed", proto.compute_speed()),
          factor("network_speed", proto.network_speed()), factor("host_time", proto.host_time())};
}

}  // namespace

LearnedModel::LearnedModel()
    : analytical_(EmbeddedNcclTuning()), network_(NetworkModel::Shipped()) {
  for (const KernelFamily* family : KernelFamilies()) {
    families_.push_back(std::make_shared<const LazyFamily>(FamilyModel(*family)));
  }
}

LearnedModel LearnedModel::Fit(std::span<const Sample> samples, const Report& report) {
  LearnedModel model;
  model.overhead_ = CallOverhead::Fit(samples);
  const std::vector<std::vector<FitRow>> rows = MakeTrainingRows(samples, model.overhead_);
  // The costly fits run side by side; the result of each does not depend on the thread that
  // computes it.
  std::vector<std::future<FamilyModel>> fits;
  const auto fit = [&](const KernelFamily& family, const std::vector<FitRow>& of) {
    if (report && !of.empty()) report(fmt::format("{}: {} samples", family.name(), of.size()));
    return std::async(std::launch::async,
                      [family = &family, of = &of] { return FamilyModel::Fit(*family, *of); });
  };
  for (size_t f = 0; f < rows.size(); ++f) {
    fits.push_back(fit(*KernelFamilies()[f], rows[f]));
  }
  for (size_t f = 0; f < rows.size(); ++f) {
    model.families_[f] = std::make_shared<const LazyFamily>(fits[f].get());
  }
  return model;
}

CalibratedModel LearnedModel::Calibrated(std::span<const Sample> samples) const {
  const std::vector<std::vector<FitRow>> rows = MakeTrainingRows(samples, overhead_);
  CalibratedModel calibrated{*this, {}, 0};
  const Device* gpu = nullptr;
  const auto calibrate = [&](std::span<const FitRow> of,
                             std::shared_ptr<const LazyFamily>& family) {
    if (of.empty()) return;
    if (gpu == nullptr) gpu = of.front().device;
    for (const FitRow& row : of) {
      if (row.device->id == gpu->id) continue;
      throw InputError(
          fmt::format("calibration: got samples of {} and {}, want those of one GPU type", gpu->id,
                      row.device->id));
    }
    CalibratedFamily result = family->Get().Calibrated(of);
    family = std::make_shared<const LazyFamily>(std::move(result.model));
    calibrated.changes.push_back(std::move(result.changes));
    calibrated.rows += static_cast<int>(of.size());
  };
  for (size_t f = 0; f < rows.size(); ++f) calibrate(rows[f], calibrated.model.families_[f]);
  return calibrated;
}

const FamilyModel* LearnedModel::ModelOf(const Op& op, const Device& device) const {
  const KernelFamily* const family = FamilyOf(op, device);
  return family == nullptr ? nullptr : &families_[IndexOf(*family)]->Get();
}

LearnedModel LearnedModel::WithMeasured(std::span<const Sample> samples) const {
  std::vector<Sample> usable;
  std::copy_if(
      samples.begin(), samples.end(), std::back_inserter(usable),
      [](const Sample& sample) { return !sample.times_whole_calls && CanPredict(sample); });
  LearnedModel model = *this;
  if (usable.size() > MeasuredTimes::kMost) return model;
  model.measured_.Add(usable);
  if (model.measured_.size() > MeasuredTimes::kMost) model.measured_ = MeasuredTimes();
  return model;
}

LearnedModel LearnedModel::WithoutMeasured() const {
  LearnedModel model = *this;
  model.measured_ = MeasuredTimes();
  return model;
}

LearnedModel LearnedModel::AtSite(const SiteFactors& site) const {
  LearnedModel model = *this;
  model.site_ = site;
  return model;
}

std::vector<Estimate> LearnedModel::Predict(std::span<const Op> ops, const Device& device) const {
  if (site_ == SiteFactors()) return PredictAnywhere(ops, device);
  struct Anywhere : CostModel {
    explicit Anywhere(const LearnedModel& of) : model(of) {}
    std::vector<Estimate> Predict(std::span<const Op> some, const Device& at) const override {
      return model.PredictAnywhere(some, at);
    }
    const LearnedModel& model;
  };
  const Anywhere anywhere(*this);
  return SiteModel(anywhere, site_).Predict(ops, device);
}

std::vector<Estimate> LearnedModel::PredictAnywhere(std::span<const Op> ops,
                                                    const Device& device) const {
  return PriceWithSparse(ops, [&](std::span<const Op> priced) {
    std::vector<Estimate> estimates = PredictUnmeasured(priced, device);
    measured_.Correct(
        priced, device,
        [this](std::span<const Op> some, const Device& at) { return PredictUnmeasured(some, at); },
        &estimates);
    return estimates;
  });
}

std::vector<Estimate> LearnedModel::PredictUnmeasured(std::span<const Op> ops,
                                                      const Device& device) const {
  std::vector<Estimate> estimates(ops.size());
  std::map<const FamilyModel*, std::vector<size_t>> by_model;
  std::vector<Op> rest, collectives;
  std::vector<size_t> rest_at, collective_at;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (const FamilyModel* model = ModelOf(ops[i], device)) {
      by_model[model].push_back(i);
    } else if (IsCollective(ops[i].kind) && ops[i].sync.method == SyncMethod::kAllReduce &&
               device.generation != Generation::kHost) {
      collectives.push_back(ops[i]);
      collective_at.push_back(i);
    } else {
      rest.push_back(ops[i]);
      rest_at.push_back(i);
    }
  }
  const std::vector<Estimate> analytical = analytical_.Predict(rest, device);
  for (size_t i = 0; i < rest.size(); ++i) estimates[rest_at[i]] = analytical[i];
  const std::vector<NetworkEstimate> measured = network_.Predict(collectives, device);
  for (size_t i = 0; i < collectives.size(); ++i) {
    Estimate& estimate = estimates[collective_at[i]];
    estimate = measured[i].estimate;
    estimate.host = LaunchTime(collectives[i], device);
    estimate.slowdown = ComputeSlowdown(collectives[i], estimate.method, device);
  }
  for (const auto& [model, indices] : by_model) {
    std::vector<Op> own;
    own.reserve(indices.size());
    for (const size_t i : indices) own.push_back(ops[i]);
    const std::vector<LogTime> times = model->Predict(own, device);
    for (size_t i = 0; i < indices.size(); ++i) {
      estimates[indices[i]] = {Duration::Seconds(std::exp(times[i].log_seconds)),
                               BasisOf(times[i], model->family().IsDerived(own[i])),
                               times[i].spread, LaunchTime(own[i], device)};
    }
  }
  return estimates;
}

LearnedModel LearnedModel::FromProto(const CostModelProto& proto, const std::string& name) {
  CheckSchema(proto, name);
  LearnedModel model;
  std::vector<bool> found(model.families_.size(), false);
  for (int i = 0; i < proto.families_size(); ++i) {
    const std::string place = fmt::format("{}: families[{}]", name, i);
    FamilyModel family = FamilyModel::FromProto(proto.families(i), place);
    const size_t index = IndexOf(family.family());
    if (found[index]) {
      throw InputError(
          fmt::format("{}.family: got \"{}\" again, want it once", place, family.family().name()));
    }
    found[index] = true;
    model.families_[index] = std::make_shared<const LazyFamily>(std::move(family));
  }
  for (size_t f = 0; f < found.size(); ++f) {
    if (found[f] || KernelFamilies()[f]->IsForHosts()) continue;
    throw InputError(
        fmt::format("{}: families: got none named \"{}\"", name, KernelFamilies()[f]->name()));
  }
  model.TakeRest(proto, name);
  return model;
}

void LearnedModel::TakeRest(const CostModelProto& proto, const std::string& name) {
  overhead_ = CallOverhead::FromProto(proto, name);
  measured_ = MeasuredTimes::FromProto(proto, name);
  if (proto.has_site()) site_ = SiteFromProto(proto.site(), name);
}

CostModelProto LearnedModel::ToProto() const {
  CostModelProto proto;
  proto.set_schema(kSchema);
  for (const auto& family : families_) *proto.add_families() = family->Get().ToProto();
  overhead_.AddTo(proto);
  measured_.AddTo(&proto);
  if (site_ != SiteFactors()) {
    SiteFactorsProto* const site = proto.mutable_site();
    site->set_compute_speed(site_.compute);
    site->set_network_speed(site_.network);
    site->set_host_time(site_.host);
  }
  return proto;
}

LearnedModel LearnedModel::Read(const std::string& path) {
  CostModelProto proto;
  ReadProtoFile(path, &proto);
  return FromProto(proto, path);
}

LearnedModel LearnedModel::WithNetwork(const NetworkModel& network) const {
  LearnedModel model = *this;
  model.network_ = network;
  return model;
}

const LearnedModel& LearnedModel::Shipped() {
  static const LearnedModel model = [] {
    const SplitCostModel split = SplitFamilies(EmbeddedCostModel());
    CostModelProto rest;
    CHECK(rest.ParseFromString(split.rest));
    const std::string name = "cost_models/kernels.pb";
    CheckSchema(rest, name);
    LearnedModel shipped;
    shipped.TakeRest(rest, name);
    for (const std::string_view family : split.families) {
      const auto& families = KernelFamilies();
      const auto named = std::find_if(families.begin(), families.end(), [&](const auto* other) {
        return other->name() == FamilyName(family);
      });
      CHECK(named != families.end());
      shipped.families_[IndexOf(**named)] = std::make_shared<const LazyFamily>(family);
    }
    return shipped;
  }();
  return model;
}

}  // namespace stagecraft
