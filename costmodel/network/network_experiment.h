// Experiment on measured collectives: how well samples are predicted by models that were not fitted
// on them.
//
// Models are judged by the call that simulations make, LearnedModel::Predict() of the collective
// over the group's fabric, with the network model that was fitted on the other samples. The model
// is at home at the sample's site if that has other samples, as with `fit --cluster`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/error_summary.h"
#include "costmodel/network/network_model.h"
#include "costmodel/network/network_sample.h"
#include "costmodel/sample_split.h"

namespace stagecraft {

// `spec` is one of
//   random:FRACTION       this share of the rows, drawn by the seed
//   leave-out:KEY=VALUE   rows with that group (nodes x ranks x groups x stride), bytes,
//                         gpu, source, system, site, op or dtype
//   leave-out:KEY         every value in turn; more than 64 values are dealt into
//                         64 groups, in order, so that neighbours are in different ones
//   none                  every row is a test row and none trains
// Throws InputError for anything else, and if nothing is left on a side.
std::vector<SampleSplit> MakeNetworkSplits(const std::string& spec,
                                           std::span<const NetworkSample> samples, uint64_t seed);

struct NetworkPrediction {
  int sample = 0;
  Duration time;
  Duration formula;  // by NCCL's own model alone
  double spread = 0;
};

// The errors over the rows of one op, GPU type and site, or over all rows.
struct NetworkAccuracy : ErrorSummary {
  std::string op, gpu, site;
  double formula_mape = 0;  // by NCCL's own model alone; a share
  // The row with the largest message (of several such rows, the first of those with the most
  // ranks), measured and predicted; if it has several predictions, their mean. The error of the
  // bandwidth is that of the time.
  Bytes largest;
  Bandwidth bus_measured, bus_predicted;
  std::optional<ErrorSummary> uncalibrated;  // of the same rows without calibration
};

// How many times the rows that calibrate are drawn.
inline constexpr int kNetworkCalibrationDraws = 20;

struct NetworkExperimentOptions {
  std::string split = "none";
  uint64_t seed = 1;
  Bytes least_bytes;  // smaller samples train but judge nothing
  int calibrate = 0;  // rows of each left-out site that the model gets; 0: none
  // The model that predicts if nothing trains; nullptr: the model in the binary.
  const NetworkModel* shipped = nullptr;
  std::function<void(const std::string&)> report;  // progress; may be empty
};

struct NetworkExperiment {
  std::vector<NetworkAccuracy> groups;  // by op, GPU and site
  NetworkAccuracy overall;              // means over groups
  NetworkAccuracy overall_rows;         // over rows
  std::vector<NetworkPrediction> predictions;
  std::vector<NetworkPrediction> uncalibrated;  // as `predictions`; empty if no rows calibrate
  std::map<std::string, int> skipped;           // rows that judge nothing, by reason
};

// The reason for skipping rows that cross a network of which nothing is known.
inline constexpr const char* kUnstatedNetwork =
    "cross a network that is not stated, so that no cluster describes it";

// Returns why no simulation could ask for what was measured; nullptr if one could.
const char* WhyNotSimulated(const NetworkSample& sample);

NetworkExperiment RunNetworkExperiment(std::span<const NetworkSample> samples,
                                       const NetworkExperimentOptions& options);

// Predicts the test rows of one division into training and test rows, however it was made.
std::vector<NetworkPrediction> PredictLeftOut(std::span<const NetworkSample> samples,
                                              const SampleSplit& split);
NetworkAccuracy Summarise(std::span<const NetworkSample> samples,
                          std::span<const NetworkPrediction> predictions);

}  // namespace stagecraft
