#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "spmv/formats/hdf5_name.h"

namespace weft::spmv::hdf5 {

/// An identifier of the library, closed at the end.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }

  bool is_open() const { return id_ >= 0; }
  hid_t id() const { return id_; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Throws comm_thread::InputError, which names the file.
[[noreturn]] void fail(const Hdf5Name& name, const std::string& complaint);

/// Lets a child process do `look` first, whose result is dropped. Throws comm_thread::InputError
/// where that crashes or does not end: the library (1.10) is not safe against damaged files. The
/// child touches nothing but the library and the file, and Linux (from 5.12 on) leaves memory that
/// a network card writes to with this process.
void try_in_child(const Hdf5Name& name, const std::function<void()>& look);

/// The library prints what goes wrong unless it is told not to.
void keep_quiet();

/// Files on parallel file systems cannot always be locked, and nobody writes to them meanwhile.
Handle access_without_locks();
/// Throws comm_thread::InputError where it is no readable HDF5 file.
Handle open_file(const Hdf5Name& name);

/// Not open where there is none. Links may lead to other files, which are not locked either: one
/// that leads back to a file that is open must ask for what that file was opened with. (A dataset
/// that H5Dopen2 with such a list cannot open crashes the library, 1.10.8, later; H5Oopen does
/// not.) `error`: gets the reason.
Handle open_object(const Handle& parent, const std::string& member, std::string* error = nullptr);
/// The same where it is none of these, too.
Handle open_group(const Handle& parent, const std::string& member);
Handle open_dataset(const Handle& parent, const std::string& member);

bool has(const Handle& group, const char* member);

/// Names of the members of the root, in order.
std::vector<std::string> members_of(const Handle& file);

/// True if the object, which a link may have led to, is in the file of this path itself.
bool is_in_file(const Handle& object, const std::string& file);

/// Throws comm_thread::InputError with the reason why `member` of `parent` has not opened: it is
/// not there, a link leads nowhere, it is `what` no more, or a newer library wrote it.
[[noreturn]] void fail_to_open(const Hdf5Name& name, const Handle& parent,
                               const std::string& member, const std::string& what);

/// How many bytes of the file `path` come before the numbers of a dataset that lie in it as they
/// are: one after another, unfiltered, in this very file; -1 elsewhere.
std::int64_t plain_offset(const Handle& dataset, const std::string& path);

}  // namespace weft::spmv::hdf5
