#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "library/options/option.h"

namespace weft::library {

/// The numbers that an option takes.
struct NumberRange {
  double least = 0;
  bool has_least = true;  // `least` itself, too
  double most = 0;  // where above `least`
  bool may_be_infinite = false;
  const char* expected = "";

  bool contains(double number) const {
    return (number > least || (has_least && number == least)) && (most <= least || number <= most);
  }
};

inline constexpr NumberRange any_above_zero{.has_least = false, .expected = "a number above 0"};
inline constexpr NumberRange zero_or_more{.expected = "a number, 0 or more"};
inline constexpr NumberRange from_0_to_1{.most = 1, .expected = "a number from 0 to 1"};
inline constexpr NumberRange above_0_to_1{
    .has_least = false, .most = 1, .expected = "a number above 0, up to 1"};

/// The number that `word` is. Thread: any. Throws comm_thread::InputError, which quotes `item`.
double number(const std::string& word, const std::string& item, const NumberRange& range);
/// The whole number that `word` is, `least` and `most` included. Likewise.
std::int64_t whole_number(const std::string& word, const std::string& item, std::int64_t least,
                          std::int64_t most);
bool truth(const std::string& word);
/// Throws comm_thread::InputError, which quotes `item`, where `word` is none of `words`.
void expect_one_of(const std::string& word, const std::string& item,
                   const std::vector<std::string>& words);
/// Six digits at most, as the command line shows defaults.
std::string shown(double number);
/// "a|b|c", "a,b,c".
std::string alternatives(const std::vector<std::string>& words);
std::string joined(const std::vector<std::string>& words);

/// Makes the values of a table of options. `member`: a pointer to a member of Settings, or a
/// function that returns it by reference.
template <class Settings>
struct Values {
  using Value = ValueOf<Settings>;

  /// Any text.
  template <class Member>
  static Value text(Member member, const char* type) {
    return {[member](Settings& s, const std::string& word, const std::string&) {
              std::invoke(member, s) = word;
            },
            [member](const Settings& s) { return std::invoke(member, s); }, type};
  }

  /// A text that `parse` does not complain of.
  template <class Member, class Parse>
  static Value checked(Member member, Parse parse, const char* type) {
    Value value = text(member, type);
    value.read = [member, parse](Settings& s, const std::string& word, const std::string&) {
      static_cast<void>(parse(word));
      std::invoke(member, s) = word;
    };
    return value;
  }

  /// One of `words`, kept as a text. `type`: where they are too many for one.
  template <class Member>
  static Value one_of(Member member, const std::vector<std::string>& words,
                      const char* type = nullptr) {
    Value value = text(member, "");
    value.read = [member, words](Settings& s, const std::string& word, const std::string& item) {
      expect_one_of(word, item, words);
      std::invoke(member, s) = word;
    };
    value.type = type ? type : alternatives(words);
    if (type) value.limits = "{" + joined(words) + "}";
    return value;
  }

  /// One of the words of `names`, kept as what stands beside it.
  template <class Meaning, class Member>
  static Value named(Member member, const std::vector<std::pair<std::string, Meaning>>& names) {
    std::vector<std::string> words;
    for (const auto& [word, meaning] : names) words.push_back(word);
    return {[member, names, words](Settings& s, const std::string& word, const std::string& item) {
              expect_one_of(word, item, words);
              for (const auto& [name, meaning] : names)
                if (name == word) std::invoke(member, s) = meaning;
            },
            [member, names](const Settings& s) {
              for (const auto& [name, meaning] : names)
                if (std::invoke(member, s) == meaning) return name;
              return std::string();
            },
            alternatives(words)};
  }

  /// A whole number. What is out of its range is not shown. `zero`: a word that stands for 0.
  template <class Member>
  static Value whole(Member member, std::int64_t least, std::int64_t most, const char* type,
                     const std::string& zero = "") {
    return {[=](Settings& s, const std::string& word, const std::string& item) {
              using Number = std::remove_reference_t<decltype(std::invoke(member, s))>;
              const bool is_zero = !zero.empty() && word == zero;
              std::invoke(member, s) =
                  is_zero ? Number{0} : static_cast<Number>(whole_number(word, item, least, most));
            },
            [=](const Settings& s) {
              const auto value = static_cast<std::int64_t>(std::invoke(member, s));
              return value >= least && value <= most ? std::to_string(value)
                     : value == 0                    ? zero
                                                     : std::string();
            },
            type,
            most < 1'000'000'000
                ? "INT in [" + std::to_string(least) + " - " + std::to_string(most) + "]"
                : ""};
  }

  /// A number. What is out of its range is not shown.
  template <class Member>
  static Value number(Member member, const NumberRange& range, const char* type = "FLOAT") {
    return {[=](Settings& s, const std::string& word, const std::string& item) {
              std::invoke(member, s) = library::number(word, item, range);
            },
            [=](const Settings& s) {
              const double value = std::invoke(member, s);
              return range.contains(value) ? shown(value) : std::string();
            },
            type};
  }

  template <class Member>
  static Value flag(Member member) {
    return {[member](Settings& s, const std::string& word, const std::string&) {
              std::invoke(member, s) = truth(word);
            },
            [member](const Settings& s) { return std::invoke(member, s) ? "true" : "false"; }, "",
            "", [member](Settings& s) -> bool& { return std::invoke(member, s); }};
  }
};

}  // namespace weft::library
