// Grid: the points of a sweep, in an order that depends on nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/grid.pb.h"
#include "tools/study/study_point.h"

namespace stagecraft {

// A flag that a grid may name: "tp".
struct GridFlag {
  std::string name;
  bool is_switch = false;
  bool takes_text = false;  // so that it may name a file
};

// A flag and the texts that it takes, in the order of the file.
struct GridAxis {
  std::string flag;
  std::vector<std::string> values;
  bool takes_text = false;
};

enum class GridVerb { kSimulate, kSearch };
const char* Name(GridVerb verb);  // "simulate", "search"

// A grid has at most so many points, which integers can number and a file can hold.
inline constexpr int64_t kMostPoints = 100'000'000;

class Grid {
 public:
  // `flags` are those of the grid's verb, in the order of its help; `name` opens every error.
  // Throws InputError for a flag that is unknown or given without a value, a range without an end,
  // values or points that occur twice, and more than kMostPoints.
  static Grid FromProto(const GridProto& proto, const std::vector<GridFlag>& flags,
                        const std::string& name);

  GridVerb verb() const { return verb_; }
  int64_t size() const { return size_; }
  // Points are numbered from 0. Of combinations, the axis that `flags` has first varies slowest.
  StudyPoint At(int64_t index) const;
  // All flags, in the order of `flags`. If points are explicit, a value is "" where a point has
  // none.
  const std::vector<GridAxis>& axes() const { return axes_; }
  // The names of flags with several values.
  std::vector<std::string> Varied() const;
  // A JSON object: equal grids have equal texts, however their files were written.
  std::string Definition() const;

 private:
  void ReadPoints(const GridProto& proto, const std::vector<GridFlag>& flags,
                  const std::map<std::string, std::string>& common, const std::string& name);

  GridVerb verb_ = GridVerb::kSimulate;
  int64_t size_ = 0;
  std::vector<GridAxis> axes_;
  std::vector<StudyPoint> points_;  // empty: all combinations
};

// Returns the verb that a file asks for. Throws InputError for one that it does not know.
GridVerb VerbOf(const GridProto& proto, const std::string& name);

}  // namespace stagecraft
