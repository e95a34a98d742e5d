#include "comm_thread/placement/number_words.h"

namespace weft::comm_thread {

std::string format_list(std::span<const unsigned> numbers) {
  std::string list;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string(numbers[i]);
    if (last > i) list += last == i + 1 ? ',' : '-';
    if (last > i) list += std::to_string(numbers[last]);
    i = last + 1;
  }
  return list;
}

std::string counted(std::size_t count, const std::string& thing) {
  std::string words = std::to_string(count);
  words += ' ';
  words += thing;
  if (count != 1) words += 's';
  return words;
}

}  // namespace weft::comm_thread
