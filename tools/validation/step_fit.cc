#include "tools/validation/step_fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "costmodel/check.h"
#include "tools/validation/predict_rows.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

class Fitter {
 public:
  explicit Fitter(const ErrorsOfConstants& errors) : errors_of_(errors) {}

  const std::vector<SourceError>& Errors(const StepConstants& constants) {
    std::vector<double> key;
    for (const StepConstant& constant : AllStepConstants()) {
      key.push_back(constants.*constant.value);
    }
    auto found = known_.find(key);
    if (found == known_.end()) found = known_.emplace(key, errors_of_(constants)).first;
    return found->second;
  }

  // Returns the constants of least error over all sources but `left_out`, which may be empty.
  StepConstants Fit(StepConstants constants, const std::string& left_out) {
    double least = MeanError(constants, left_out);
    for (bool changed = true; changed;) {
      changed = false;
      for (const StepConstant& constant : AllStepConstants()) {
        StepConstants best = constants;
        for (const double candidate : constant.candidates) {
          StepConstants other = constants;
          other.*constant.value = candidate;
          const double error = MeanError(other, left_out);
          if (error >= least) continue;
          least = error;
          best = other;
          changed = true;
        }
        constants = best;
      }
    }
    return constants;
  }

  int evaluations() const { return static_cast<int>(known_.size()); }

 private:
  double MeanError(const StepConstants& constants, const std::string& left_out) {
    double sum = 0;
    int count = 0;
    for (const SourceError& error : Errors(constants)) {
      if (error.source == left_out) continue;
      sum += error.mape;
      ++count;
    }
    CHECK(count > 0);
    return sum / count;
  }

  const ErrorsOfConstants& errors_of_;
  std::map<std::vector<double>, std::vector<SourceError>> known_;
};

Json ErrorToJson(const FittedError& error) {
  return {{"in_use", error.in_use}, {"fitted", error.fitted}, {"left_out", error.left_out}};
}

Json ConstantsToJson(const StepConstants& constants) {
  Json json = Json::object();
  for (const StepConstant& constant : AllStepConstants()) {
    json[constant.name] = constants.*constant.value;
  }
  return json;
}

std::set<WorkClass> ClassesOf(const StepFit& fit) {
  std::set<WorkClass> classes;
  for (const FittedSource& source : fit.sources) classes.insert(source.work);
  return classes;
}

// Adds the errors of a source to a mean over `count` of them.
void AddShare(const FittedError& error, double count, FittedError& mean) {
  mean.in_use += error.in_use / count;
  mean.fitted += error.fitted / count;
  mean.left_out += error.left_out / count;
}

}  // namespace

std::vector<SourceError> TimeErrorsOf(std::span<const ValidatedRow> rows,
                                      const PredictionBasis& basis,
                                      const StepConstants& constants) {
  std::vector<ValidatedRow> predicted;
  for (const ValidatedRow& row : rows) {
    if (row.measured.is_primary && ClassOf(row.measured))
      predicted.emplace_back().measured = row.measured;
  }
  PredictionBasis other = basis;
  other.constants = constants;
  PredictRows(predicted, other);
  std::vector<SourceError> errors;
  for (const ClassErrors& work : SummarizeClasses(predicted)) {
    for (const TimeErrors& source : work.sources) {
      errors.push_back({work.work, source.source, source.rows, source.mape});
    }
  }
  return errors;
}

FittedError MeanOf(const StepFit& fit, std::optional<WorkClass> work) {
  const auto counts = [&](const FittedSource& source) { return !work || source.work == *work; };
  const auto count = std::count_if(fit.sources.begin(), fit.sources.end(), counts);
  FittedError mean;
  for (const FittedSource& source : fit.sources) {
    if (counts(source)) AddShare(source.error, static_cast<double>(count), mean);
  }
  return mean;
}

StepFit FitStepConstants(const ErrorsOfConstants& errors) {
  Fitter fitter(errors);
  StepFit fit;
  const std::vector<SourceError> in_use = fitter.Errors(fit.in_use);
  std::set<std::string> names;
  for (const SourceError& error : in_use) names.insert(error.source);
  if (names.size() < 2) {
    throw InputError(fmt::format(
        "--fit-constants: got steps of {} tables, want two or more, so that one can be left out",
        names.size()));
  }
  fit.fitted = fitter.Fit(fit.in_use, "");
  const std::vector<SourceError> fitted = fitter.Errors(fit.fitted);
  for (size_t i = 0; i < in_use.size(); ++i) {
    FittedSource source = {in_use[i].work, in_use[i].source, in_use[i].rows, {}, {}};
    source.without = fitter.Fit(fit.in_use, source.source);
    source.error = {in_use[i].mape, fitted[i].mape, fitter.Errors(source.without)[i].mape};
    fit.sources.push_back(std::move(source));
  }
  fit.evaluations = fitter.evaluations();
  return fit;
}

bool EndsAtBound(const StepConstant& constant, const StepConstants& fitted) {
  const double value = fitted.*constant.value;
  return value == constant.candidates.front() || value == constant.candidates.back();
}

void PrintStepFit(const StepFit& fit, std::ostream& out) {
  out << fmt::format("{:<20}{:>8}{:>8}  meaning\n", "constant", "in use", "fitted");
  for (const StepConstant& constant : AllStepConstants()) {
    out << fmt::format("{:<20}{:>8}{:>8}  {}{}\n", constant.name, fit.in_use.*constant.value,
                       fit.fitted.*constant.value, constant.meaning,
                       EndsAtBound(constant, fit.fitted) ? "; ends at a bound" : "");
  }
  out << "\nerrors of times in percent, with the constants in use, with those fitted on all "
         "tables,\n"
         "and with those fitted without the table, which follow\n\n";
  const auto line = [&](const std::string& work, const std::string& source, const std::string& rows,
                        const FittedError& error) {
    out << fmt::format("{:<36}{:<28}{:>6}{:>8.1f}{:>8.1f}{:>9.1f}", work, source, rows,
                       error.in_use, error.fitted, error.left_out);
  };
  out << fmt::format("{:<36}{:<28}{:>6}{:>8}{:>8}{:>9}  constants\n", "class", "table", "rows",
                     "in use", "fitted", "left out");
  for (const FittedSource& source : fit.sources) {
    line(Name(source.work), source.source, fmt::format("{}", source.rows), source.error);
    for (const StepConstant& constant : AllStepConstants()) {
      out << fmt::format(" {:>5}", source.without.*constant.value);
    }
    out << '\n';
  }
  const auto mean = [&](const char* work, const FittedError& error) {
    line(work, "mean over tables", "", error);
    out << '\n';
  };
  for (const WorkClass work : ClassesOf(fit)) mean(Name(work), MeanOf(fit, work));
  mean("all", MeanOf(fit, std::nullopt));
}

Json StepFitToJson(const StepFit& fit) {
  Json json;
  json["in_use"] = ConstantsToJson(fit.in_use);
  json["fitted"] = ConstantsToJson(fit.fitted);
  for (const StepConstant& constant : AllStepConstants()) {
    if (EndsAtBound(constant, fit.fitted)) json["at_bound"].push_back(constant.name);
  }
  json["mean"] = ErrorToJson(MeanOf(fit, std::nullopt));
  json["classes"] = Json::array();
  for (const WorkClass work : ClassesOf(fit)) {
    json["classes"].push_back({{"class", Name(work)}, {"mean", ErrorToJson(MeanOf(fit, work))}});
  }
  json["evaluations"] = fit.evaluations;
  json["sources"] = Json::array();
  for (const FittedSource& source : fit.sources) {
    json["sources"].push_back({{"class", Name(source.work)},
                               {"source", source.source},
                               {"rows", source.rows},
                               {"mape", ErrorToJson(source.error)},
                               {"constants_without", ConstantsToJson(source.without)}});
  }
  return json;
}

}  // namespace stagecraft
