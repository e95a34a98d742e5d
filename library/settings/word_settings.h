#pragma once

#include <string>
#include <vector>

namespace weft::library {

/// One of the settings that commas separate, such as `steps=2`.
struct WordSetting {
  std::string text;
  std::string key;  // before the equals sign; all of the text where there is none
  std::string value;
};

/// The settings in `text`. Thread: any. Throws comm_thread::InputError where a key comes twice.
std::vector<WordSetting> settings_in(const std::string& text);

}  // namespace weft::library
