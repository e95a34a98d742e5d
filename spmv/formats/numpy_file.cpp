#include "spmv/formats/numpy_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "spmv/arrays/shared_output.h"

namespace weft::spmv {
namespace {

using comm_thread::InputError;

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64;

struct Header {
  std::string text;  // a Python dictionary
  std::int64_t data_begin = 0;
};

[[noreturn]] void fail(const ByteSource& source, const std::string& complaint) {
  throw InputError(source.name() + ": " + complaint);
}

std::string read_text(ByteSource& source, std::int64_t offset, std::size_t count) {
  std::string text(count, '\0');
  source.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

Header read_header(ByteSource& source) {
  constexpr std::size_t most_header_bytes = 1 << 16;
  constexpr std::size_t fixed_bytes = 10;
  if (source.size() < static_cast<std::int64_t>(fixed_bytes) ||
      read_text(source, 0, magic.size()) != magic)
    fail(source, "does not begin as a NumPy array; expected one as numpy.save writes it");
  const std::string fixed = read_text(source, 0, fixed_bytes);
  const auto byte_at = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(fixed[i]));
  };
  const std::size_t version = byte_at(6);
  std::size_t length = byte_at(8) + (byte_at(9) << 8);
  std::size_t begin = fixed_bytes;
  if (version >= 2) {
    begin = fixed_bytes + 2;
    if (source.size() < static_cast<std::int64_t>(begin))
      fail(source, "ends in its header; expected a whole file");
    const std::string high = read_text(source, fixed_bytes, 2);
    length += static_cast<std::size_t>(static_cast<unsigned char>(high[0])) << 16;
    length += static_cast<std::size_t>(static_cast<unsigned char>(high[1])) << 24;
  }
  if (version < 1 || version > 3 || length > most_header_bytes ||
      static_cast<std::int64_t>(begin + length) > source.size())
    fail(source, "has a header of " + std::to_string(length) + " bytes of version " +
                     std::to_string(version) + "; expected version 1 to 3, and a whole header");
  return {read_text(source, static_cast<std::int64_t>(begin), length),
          static_cast<std::int64_t>(begin + length)};
}

/// What stands behind 'KEY': in the dictionary.
std::string_view behind(const ByteSource& source, std::string_view text, const std::string& key) {
  const std::size_t found = text.find("'" + key + "'");
  const std::size_t colon = found == std::string_view::npos ? found : text.find(':', found);
  if (colon == std::string_view::npos)
    fail(source, "has no '" + key + "' in its header; expected a NumPy array");
  text.remove_prefix(colon + 1);
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
  return text;
}

/// What stands between quotes.
std::string quoted_at(const ByteSource& source, std::string_view text) {
  const std::size_t end = text.size() > 1 && text[0] == '\'' ? text.find('\'', 1) : 0;
  if (end == 0 || end == std::string_view::npos)
    fail(source, "has an array of records; expected an array of numbers");
  return std::string(text.substr(1, end - 1));
}

NumberType type_of(const ByteSource& source, const std::string& word) {
  const std::string expected = "found numbers of type '" + word +
                               "'; expected truth values, whole or floating-point numbers of up to "
                               "8 bytes, or complex ones: save x.astype('float64')";
  if (word == "|O")
    fail(source,
         "found Python objects, as a sparse matrix is one; expected numbers: "
         "scipy.sparse.save_npz('A.npz', A), or of a vector x.astype('float64')");
  if (word.size() == 4 && word.ends_with("c16"))
    return {NumberType::Kind::complex, 16, word[0] == '>'};
  if (word.size() != 3) fail(source, expected);
  NumberType type;
  type.is_big_endian = word[0] == '>';
  type.bytes = word[2] - '0';
  if (word[1] == 'f')
    type.kind = NumberType::Kind::real;
  else if (word[1] == 'i')
    type.kind = NumberType::Kind::integer;
  else if (word[1] == 'u' || word == "|b1")
    type.kind = NumberType::Kind::natural;
  else if (word[1] == 'c')
    type.kind = NumberType::Kind::complex;
  else
    fail(source, expected);
  const bool is_real = type.kind == NumberType::Kind::real;
  const bool is_complex = type.kind == NumberType::Kind::complex;
  const bool is_known = type.bytes == 8 || (!is_complex && type.bytes == 4) ||
                        (!is_complex && type.bytes == 2) ||
                        (!is_complex && !is_real && type.bytes == 1);
  if (!is_known || (word[0] != '<' && word[0] != '>' && word[0] != '|')) fail(source, expected);
  return type;
}

/// The sizes between brackets; Python 2 wrote long ones as "60L".
std::vector<std::int64_t> shape_of(const ByteSource& source, std::string_view text) {
  const std::size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos)
    fail(source, "has no shape in its header; expected a NumPy array");
  text = text.substr(1, end - 1);
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    word.remove_prefix(std::min(word.size(), word.find_first_not_of(' ')));
    text.remove_prefix(std::min(text.size(), comma + 1));
    if (word.empty()) continue;
    if (word.ends_with('L')) word.remove_suffix(1);
    const auto size = comm_thread::number_in<std::int64_t>(word);
    if (!size || *size < 0)
      fail(source, "found the size \"" + std::string(word) +
                       "\" in its shape; expected a whole "
                       "number");
    shape.push_back(*size);
  }
  return shape;
}

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

ShapedArray open_shaped_array(std::shared_ptr<ByteSource> source) {
  const Header header = read_header(*source);
  const NumberType type =
      type_of(*source, quoted_at(*source, behind(*source, header.text, "descr")));
  ShapedArray array;
  array.shape = shape_of(*source, behind(*source, header.text, "shape"));
  array.is_by_columns = behind(*source, header.text, "fortran_order").starts_with("True");
  std::int64_t count = 1;
  for (const std::int64_t size : array.shape)
    if (__builtin_mul_overflow(count, size, &count))
      fail(*source, "found the shape " + text_of(array.shape) + "; expected a smaller array");
  array.numbers = {std::move(source), header.data_begin, count, type};
  array.numbers.check_size("array");
  return array;
}

NumberArray open_numpy_array(std::shared_ptr<ByteSource> source) {
  const ShapedArray array = open_shaped_array(std::move(source));
  if (std::ranges::count_if(array.shape, [](std::int64_t size) { return size != 1; }) > 1)
    fail(*array.numbers.source,
         "found the shape " + text_of(array.shape) +
             "; expected an array of one dimension, or of one row or column");
  return array.numbers;
}

std::string read_numpy_text(ByteSource& source) {
  const Header header = read_header(source);
  const std::string type = quoted_at(source, behind(source, header.text, "descr"));
  const std::size_t kind = type.find_first_of("SU");
  const auto length = kind == std::string::npos
                          ? std::nullopt
                          : comm_thread::number_in<std::int64_t>(type.substr(kind + 1));
  constexpr std::int64_t most = 64;
  if (!length || *length < 1 || *length > most)
    fail(source, "found the type '" + type + "'; expected a short text");
  const std::int64_t stride = type[kind] == 'U' ? 4 : 1;
  if (source.size() - header.data_begin < *length * stride)
    fail(source, "ends in its text; expected a whole file");
  const std::string bytes =
      read_text(source, header.data_begin, static_cast<std::size_t>(*length * stride));
  std::string text;
  const bool is_big_endian = type[0] == '>';
  for (std::size_t i = is_big_endian && stride == 4 ? 3 : 0; i < bytes.size();
       i += static_cast<std::size_t>(stride))
    if (bytes[i] != '\0') text += bytes[i];
  return text;
}

std::string numpy_header(const std::string& type, const std::string& shape) {
  std::string dictionary =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  constexpr std::size_t fixed_bytes = 10;
  const std::size_t used = fixed_bytes + dictionary.size() + 1;
  dictionary.append((alignment - used % alignment) % alignment, ' ');
  dictionary += '\n';
  std::string header(magic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

VectorSource open_numpy_vector(const std::string& path) {
  VectorSource source{.array = open_shaped_array(std::make_shared<FileBytes>(path))};
  source.remarks = remarks_on_numbers(source.array.numbers);
  return source;
}

void collective_write_numpy_columns(const comm_thread::Communicator& communicator,
                                    const RowPartition& partition, std::span<const double> own,
                                    std::int64_t count, const std::string& path) {
  const std::string rows = std::to_string(partition.row_count());
  const std::string header = numpy_header(
      "<f8", count == 1 ? "(" + rows + ",)" : "(" + rows + ", " + std::to_string(count) + ")");
  SharedOutput output(communicator, path);
  if (communicator.is_root()) output.write(0, std::as_bytes(std::span(header)));
  output.write(std::ssize(header) + 8 * count * partition.begin(communicator.rank()),
               std::as_bytes(own));
  output.collective_finish();
}

}  // namespace weft::spmv
