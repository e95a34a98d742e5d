#include "comm_thread/simulation/letter_queue.h"

#include <cstring>
#include <thread>

#include <catch2/catch.hpp>

namespace weft::comm_thread {

TEST_CASE("letters arrive whole and in order, however far ahead the writer is") {
  constexpr int count = 5000;
  LetterQueue letters(sizeof(int));
  CHECK(letters.front() == nullptr);
  std::jthread writer([&letters] {
    for (int i = 0; i < count; ++i) {
      Letter& letter = letters.draft();
      letter.started = i;
      std::memcpy(letter.payload(), &i, sizeof(i));
      letters.send();
    }
  });
  int wrong_count = 0;
  for (int i = 0; i < count;) {
    Letter* const letter = letters.front();
    if (!letter) {
      std::this_thread::yield();
      continue;
    }
    int payload = -1;
    std::memcpy(&payload, letter->payload(), sizeof(payload));
    wrong_count += letter->started != i || payload != i;
    letters.pop();
    ++i;
  }
  CHECK(wrong_count == 0);
  CHECK(letters.front() == nullptr);
}

}  // namespace weft::comm_thread
