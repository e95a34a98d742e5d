// The inputs of tests/fuzz/corpus, and copies with changes as they happen to files, go through all
// readers; what a reader must not do, the sanitizers say.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::string> corpus() {
  std::vector<std::string> inputs;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/fuzz/corpus")) {
    if (entry.is_directory()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

void read(const std::string& input) {
  // A copy without room behind it, so that nothing is read beyond its end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  CHECK(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()) == 0);
}

/// Cuts the input off, or changes, removes or doubles some bytes behind the first.
std::string broken(std::string input, std::mt19937& random) {
  const auto place = [&] { return 1 + random() % (input.size() - 1); };
  for (unsigned changes = 1 + random() % 4; changes > 0 && input.size() > 2; --changes) {
    const std::size_t at = place();
    switch (random() % 6) {
      case 0:
        input[at] = static_cast<char>(random());
        break;
      case 1:
        input[at] = static_cast<char>(input[at] ^ (1 << random() % 8));
        break;
      case 2:
        input[at] = random() % 2 ? '\xff' : '\0';
        break;
      case 3:
        input.erase(at, 1 + random() % 4);
        break;
      case 4:
        input.insert(at, input.substr(at, 1 + random() % 16));
        break;
      default:
        input.resize(at);
    }
  }
  return input;
}

}  // namespace

TEST_CASE("every input of the corpus is read or refused, and so are broken copies of it") {
  const std::vector<std::string> inputs = corpus();
  CHECK(inputs.size() > 20);
  std::mt19937 random(1);
  for (const std::string& input : inputs) {
    read(input);
    const bool is_hdf5 = input.starts_with('h') || input.starts_with("fh");
    const int copies = is_hdf5 ? 20 : 300;  // a process each
    for (int copy = 0; copy < copies; ++copy) read(broken(input, random));
  }
}
