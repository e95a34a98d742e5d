#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::spmv {

/// What a reader has dropped, decided or left unread: one sentence each, "FILE: …", without a line
/// end; the same on every rank. Readers append to it; only the program prints.
using Remarks = std::vector<std::string>;

/// What is said of a symmetric matrix of which both triangles stand in the file.
inline std::string text_of_merged_pairs(const std::string& path, std::int64_t pair_count) {
  return path + ": both triangles of the symmetric matrix stand in the file; " +
         std::to_string(pair_count) +
         (pair_count == 1 ? " pair of equal entries counts once"
                          : " pairs of equal entries count once each");
}

/// Says how many bytes stand behind what is compressed, where there are some.
inline void remark_on_bytes_behind(const std::string& path, const char* what, std::int64_t bytes,
                                   Remarks& remarks) {
  if (bytes > 0)
    remarks.push_back(path + ": " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes") +
                      " behind the " + what + (bytes == 1 ? " was" : " were") + " not read");
}

}  // namespace weft::spmv
