// Writes a self-contained HTML page for tables and for charts; it is light or dark, as the
// reader's system is set, and its policy forbids the browser to load anything.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// What a page has besides the common styles.
struct HtmlExtras {
  std::string style;   // CSS
  std::string script;  // JavaScript, which runs when the page is complete; must not hold "</script"
  std::string footer = "";  // HTML for the end of the page
};

// Returns the page; `body` is HTML in UTF-8. Same input, same bytes.
std::string HtmlPage(const std::string& title, const std::string& body,
                     const HtmlExtras& extras = {});

// Returns a row of a table; `tag` is "th" or "td". Cells are plain text, which is escaped.
std::string HtmlRow(const std::vector<std::string>& cells, const char* tag);

// What the columns of a table hold: text, or from the second or third column on numbers.
enum class CardCells { kText, kNumbersFromSecond, kNumbersFromThird };

// Returns a table whose rows become lists of named values on narrow screens, for tables with much
// text. Each row has as many cells as there are names. All are plain text. Numbers are flush right
// on wide screens.
std::string HtmlCards(const std::vector<std::string>& names,
                      const std::vector<std::vector<std::string>>& rows,
                      CardCells cells = CardCells::kText);

// Returns a row of such a table, which is <table class="cards">.
std::string HtmlCardRow(const std::vector<std::string>& names,
                        const std::vector<std::string>& cells);

}  // namespace stagecraft
