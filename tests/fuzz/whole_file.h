#pragma once

#include <string>

namespace weft::tests {

/// What `weft solve FILE` and `weft convert` do with a file on one rank: they look whether it holds
/// a matrix, sample it for the forecast of memory, and read it. `bytes`: a letter for the ending of
/// the name, then the file. Throws comm_thread::InputError.
///
///     m .mtx    g .mtx.gz    p .petsc    s .npz    n .npy    h .h5    c a checkpoint
///     t .txt    i .sti       b .rua      z .rua.gz            y .00000
void read_whole_file(const std::string& bytes);

}  // namespace weft::tests
