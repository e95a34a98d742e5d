#include "spmv/problems/coefficient_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace weft::spmv {
namespace {

constexpr std::string_view numpy_magic = "\x93NUMPY";

/// Bytes before the values of a NumPy file; fails where it holds something else.
std::size_t numpy_header_bytes(const ProblemReader& reader, const std::string& path,
                               std::string_view bytes, const std::array<GlobalIndex, 3>& sizes) {
  const auto byte_at = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])) : 0;
  };
  const bool is_first_version = byte_at(6) == 1;
  const std::size_t begin = is_first_version ? 10 : 12;
  std::size_t length = byte_at(8) + 256 * byte_at(9);
  if (!is_first_version) length += 65536 * (byte_at(10) + 256 * byte_at(11));
  std::string header(bytes.substr(std::min(begin, bytes.size()), length));
  std::erase(header, ' ');
  const std::string shape = "(" + std::to_string(sizes[2]) + "," + std::to_string(sizes[1]) + "," +
                            std::to_string(sizes[0]) + ")";
  const auto has = [&](const std::string& text) { return header.find(text) != std::string::npos; };
  if (!has("'descr':'<f8'") || !has("'fortran_order':False") || !has("'shape':" + shape))
    reader.fail("found " + path + " with the header " +
                header.substr(0, std::min<std::size_t>(header.find('\n'), 80)) +
                "; expected '<f8' in C order with the shape " + shape);
  return begin + length;
}

}  // namespace

CoefficientFile::CoefficientFile(const ProblemReader& reader, const std::string& path,
                                 const std::array<GlobalIndex, 3>& sizes)
    : path_(path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    if (file >= 0) close(file);
    reader.fail("found no file " + path + " to read; expected one of doubles or a .npy file");
  }
  byte_count_ = static_cast<std::size_t>(status.st_size);
  if (byte_count_ > 0) mapping_ = mmap(nullptr, byte_count_, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  const auto* const bytes = static_cast<const char*>(mapping_);
  // A constructor that throws has no destructor.
  try {
    if (byte_count_ == 0 || mapping_ == MAP_FAILED)
      reader.fail("found nothing to read in " + path + "; expected coefficients");
    const std::string_view text(bytes, byte_count_);
    const std::size_t header =
        text.starts_with(numpy_magic) ? numpy_header_bytes(reader, path, text, sizes) : 0;
    const GlobalIndex points = sizes[0] * sizes[1] * sizes[2];
    const std::size_t wanted = header + static_cast<std::size_t>(points) * sizeof(double);
    if (byte_count_ != wanted)
      reader.fail("found " + std::to_string(byte_count_) + " bytes in " + path + "; expected " +
                  std::to_string(wanted) + " for " + std::to_string(points) + " doubles");
    first_ = bytes + header;
    for (GlobalIndex i = 0; i < points; ++i)
      if (const double value = at(i); !std::isfinite(value) || !(value > 0))
        reader.fail("found the coefficient " + text_of(value) + " at the point " +
                    std::to_string(i % sizes[0]) + ", " + std::to_string(i / sizes[0] % sizes[1]) +
                    ", " + std::to_string(i / sizes[0] / sizes[1]) + " of " + path +
                    "; expected finite numbers above 0");
  } catch (...) {
    if (byte_count_ > 0 && mapping_ != MAP_FAILED) munmap(mapping_, byte_count_);
    throw;
  }
}

CoefficientFile::~CoefficientFile() { munmap(mapping_, byte_count_); }

}  // namespace weft::spmv
