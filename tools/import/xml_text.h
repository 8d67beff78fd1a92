// Reads XML of bounded depth; errors name the line.
#pragma once

#include <cstddef>
#include <pugixml.hpp>
#include <string>

namespace stagecraft {

inline constexpr int kMostXmlDepth = 64;

// Parses `text` into `document`; throws an InputError with `name` and a line for broken XML and for
// elements nested deeper than kMostXmlDepth.
void ParseXml(const std::string& text, const std::string& name, pugi::xml_document* document);

// The text and the file's name from which elements come, for error messages about them. Both must
// outlive it.
struct XmlSource {
  const std::string& text;
  const std::string& name;

  // Returns how an error about an element begins: "topo.xml: line 7: <gpu>".
  std::string At(const pugi::xml_node& node) const;
  // Throws an InputError about an element or, if `attribute` is not empty, an attribute of it.
  [[noreturn]] void Fail(const pugi::xml_node& node, const std::string& attribute,
                         const std::string& problem) const;
  // Returns an attribute's value, a whole number from 0 to `most`; throws InputError for any other.
  int WholeAttribute(const pugi::xml_node& node, const char* attribute, int most) const;
};

}  // namespace stagecraft
