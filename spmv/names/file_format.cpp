#include "spmv/names/file_format.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

namespace weft::spmv {
namespace {

using Endings = std::initializer_list<std::string_view>;

bool ends_in_one_of(std::string_view path, Endings endings) {
  return std::ranges::any_of(endings,
                             [&](std::string_view ending) { return path.ends_with(ending); });
}

}  // namespace

FileFormat format_of(std::string_view path) {
  if (ends_in_one_of(path, {".mtx", ".mtx.gz"})) return FileFormat::matrix_market;
  if (is_triplet_name(path)) return FileFormat::text;
  if (is_harwell_boeing_name(path)) return FileFormat::harwell_boeing;
  if (is_hypre_name(path)) return FileFormat::hypre;
  if (end_of_petsc_name(path) > 0) return FileFormat::petsc;
  if (path.ends_with(".npz")) return FileFormat::scipy;
  if (path.ends_with(".npy")) return FileFormat::numpy;
  if (end_of_hdf5_name(path) > 0) return FileFormat::hdf5;
  return FileFormat::unknown;
}

bool is_matrix_file(std::string_view path) {
  const FileFormat format = format_of(path);
  return format != FileFormat::unknown && format != FileFormat::numpy;
}

bool is_vector_file(std::string_view path) {
  const FileFormat format = format_of(path);
  return format != FileFormat::unknown && format != FileFormat::scipy;
}

bool is_text_file(std::string_view path) {
  const FileFormat format = format_of(path);
  return format == FileFormat::matrix_market || format == FileFormat::text;
}

bool is_triplet_name(std::string_view path) {
  return ends_in_one_of(path, {".txt", ".dat", ".ijv", ".coo", ".sti", ".mas"});
}

bool is_harwell_boeing_name(std::string_view path) {
  constexpr std::size_t longest = 7;  // .rua.gz
  std::string name(path.substr(path.size() - std::min(path.size(), longest)));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (ends_in_one_of(name, {".hb", ".rb"})) return true;
  constexpr std::size_t length = 4;
  if (name.size() < length || name[name.size() - length] != '.') return false;
  const std::string_view type = std::string_view(name).substr(name.size() - 3);
  const std::array<std::string_view, 3> letters{"rcip", "uszhr", "ae"};
  for (std::size_t i = 0; i < letters.size(); ++i)
    if (letters[i].find(type[i]) == std::string_view::npos) return false;
  return true;
}

bool is_hypre_name(std::string_view path) {
  constexpr std::size_t fewest_digits = 5;
  const std::size_t point = path.rfind('.');
  if (point == std::string_view::npos || path.find(':') != std::string_view::npos) return false;
  const std::string_view digits = path.substr(point + 1);
  return digits.size() >= fewest_digits &&
         digits.find_first_not_of("0123456789") == std::string_view::npos;
}

std::size_t end_of_petsc_name(std::string_view path) {
  for (const std::string_view ending : {".petsc", ".bin"}) {
    if (path.ends_with(ending)) return path.size();
    const std::size_t colon = path.rfind(':');
    if (colon != std::string_view::npos && path.substr(0, colon).ends_with(ending)) return colon;
  }
  return 0;
}

std::size_t end_of_hdf5_name(std::string_view path) {
  for (const std::string_view ending : {".h5", ".hdf5", ".h5ad", ".mat"}) {
    if (path.ends_with(ending)) return path.size();
    const std::size_t at = path.rfind(std::string(ending) + ":");
    if (at != std::string_view::npos && at + ending.size() + 1 < path.size())
      return at + ending.size();
  }
  return 0;
}

}  // namespace weft::spmv
