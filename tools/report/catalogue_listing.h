// Listing: a part of the catalogue as rows of JSON, and the table that shows it.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stagecraft {

struct Column {
  const char* key;
  const char* heading;  // one line or two
  double unit = 0;      // shown numbers are divided by it; 0: shown as they are
  size_t most = 0;      // characters in a line of the column; 0: any number
};

// Keys of rows carry units. The first column and names stand left.
struct Listing {
  std::vector<Column> columns;
  std::string (*below)(const nlohmann::ordered_json& row) = nullptr;  // a row; may be empty
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
};

// In lines of at most 120 columns, if `most` of the columns allows it.
void PrintListing(const Listing& list, std::ostream& out);

}  // namespace stagecraft
