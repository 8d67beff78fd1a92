// PageTest: a fixture for tests that open an HTML page in a browser without a window.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bad_input.h"

namespace stagecraft::bad_input {

inline constexpr int kPhoneWidth = 360;  // pixels

// How a page is seen.
struct PageView {
  int width = kPhoneWidth;  // pixels
  bool is_dark = false;     // the reader's system is set to dark colours
};

// Returns the command that starts Chromium; "" if none is installed.
std::string FindBrowser();

// Has a folder for the files of each test, as FolderTest. Skips all tests if there is no browser.
class PageTest : public FolderTest {
 protected:
  void SetUp() override;

  // Returns what `script`, the body of a JavaScript function, returns after the page is loaded, as
  // wide as a phone. It may use `page` (the page's document) and `view` (its window). `file` is the
  // name of the page in the folder. A discarded value if the script throws.
  nlohmann::json RunInPage(const std::string& file, const std::string& script) const;

  // Does what RunInPage() does in each of several views. Returns a list of the results.
  nlohmann::json RunInViews(const std::string& file, const std::string& script,
                            const std::vector<PageView>& views) const;

 private:
  std::string browser_;
};

}  // namespace stagecraft::bad_input
