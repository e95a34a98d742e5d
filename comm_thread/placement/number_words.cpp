#include "comm_thread/placement/number_words.h"

#include <algorithm>

#include "comm_thread/mpi/number_in.h"

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

std::vector<unsigned> parse_list(std::string_view list) {
  constexpr unsigned most = 1 << 16;  // more than any machine has: a fault in the list
  std::vector<unsigned> numbers;
  while (!list.empty()) {
    const std::string_view range = list.substr(0, list.find(','));
    const auto first = number_in<unsigned>(range.substr(0, range.find('-')));
    const auto last = range.find('-') == std::string_view::npos
                          ? first
                          : number_in<unsigned>(range.substr(range.find('-') + 1));
    if (!first || !last || *last < *first || *last > most) return {};
    for (unsigned number = *first; number <= *last; ++number) numbers.push_back(number);
    list.remove_prefix(std::min(list.size(), range.size() + 1));
  }
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  return numbers;
}

std::string counted(std::size_t count, const std::string& thing) {
  std::string words = std::to_string(count);
  words += ' ';
  words += thing;
  if (count != 1) words += 's';
  return words;
}

}  // namespace weft::comm_thread
