// Listing: a part of the catalogue as rows of JSON, and the table that shows it.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stagecraft {

struct Column {
  const char* key;
  const char* heading;  // one or two lines
  double unit = 0;      // numbers are shown divided by it; 0: as they are
  size_t most = 0;      // the most characters in a line of the column; 0: no limit
};

// The keys of rows say their units. Columns of numbers are aligned right, all others left.
struct Listing {
  std::vector<Column> columns;
  // Returns what stands below a row, or an empty string; nullptr: nothing stands below any.
  std::string (*below)(const nlohmann::ordered_json& row) = nullptr;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
};

// Prints the table in lines of at most 120 characters, if the columns' `most` are small enough.
void PrintListing(const Listing& list, std::ostream& out);

}  // namespace stagecraft
