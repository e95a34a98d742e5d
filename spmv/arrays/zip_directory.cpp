#include "spmv/arrays/zip_directory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "comm_thread/mpi/input_error.h"

namespace weft::spmv {
namespace {

constexpr std::uint64_t end_signature = 0x06054b50;
constexpr std::uint64_t end64_locator_signature = 0x07064b50;
constexpr std::uint64_t member_signature = 0x02014b50;
constexpr std::int64_t end_bytes = 22;
constexpr std::int64_t locator_bytes = 20;
constexpr std::int64_t end64_bytes = 56;
constexpr std::size_t member_bytes = 46;
constexpr std::int64_t local_header_bytes = 30;
constexpr std::int64_t most_comment = 65535;
constexpr std::int64_t most_directory = 1 << 20;  // of some thousand members
constexpr std::uint64_t moved = 0xffffffff;  // to the Zip64 field

[[noreturn]] void refuse(const ByteSource& file, const std::string& complaint) {
  throw comm_thread::InputError(file.name() + ": " + complaint +
                                "; expected a zip archive as scipy.sparse.save_npz writes it");
}

std::string read_text(ByteSource& file, std::int64_t offset, std::int64_t count) {
  if (offset < 0 || count < 0 || count > file.size() - offset) refuse(file, "ends too early");
  std::string text(static_cast<std::size_t>(count), '\0');
  file.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

/// A little-endian number of `bytes` bytes.
std::uint64_t number_at(const std::string& text, std::size_t place, int bytes) {
  std::uint64_t number = 0;
  for (int i = bytes; i > 0; --i)
    number = (number << 8) |
             static_cast<unsigned char>(text.at(place + static_cast<std::size_t>(i) - 1));
  return number;
}

/// Replaces those of `numbers` that say "moved" by the numbers of the Zip64 field, in order.
void resolve_zip64(const ByteSource& file, const std::string& extra,
                   std::initializer_list<std::uint64_t*> numbers) {
  for (std::size_t place = 0; place + 4 <= extra.size();) {
    const std::uint64_t id = number_at(extra, place, 2);
    const auto size = static_cast<std::size_t>(number_at(extra, place + 2, 2));
    place += 4;
    if (id == 1) {
      std::size_t next = place;
      for (std::uint64_t* const number : numbers) {
        if (*number != moved) continue;
        if (next + 8 > std::min(extra.size(), place + size)) refuse(file, "is damaged");
        *number = number_at(extra, next, 8);
        next += 8;
      }
      return;
    }
    place += size;
  }
}

struct Directory {
  std::int64_t begin = 0;
  std::int64_t size = 0;
  std::int64_t bytes_behind = 0;  // the end of the archive and its comment
};

Directory find_directory(ByteSource& file) {
  const std::int64_t tail = std::min(file.size(), end_bytes + most_comment);
  const std::string text = read_text(file, file.size() - tail, tail);
  for (std::int64_t place = tail - end_bytes; place >= 0; --place) {
    const auto at = static_cast<std::size_t>(place);
    if (number_at(text, at, 4) != end_signature) continue;
    Directory directory{static_cast<std::int64_t>(number_at(text, at + 16, 4)),
                        static_cast<std::int64_t>(number_at(text, at + 12, 4))};
    const auto comment = static_cast<std::int64_t>(number_at(text, at + 20, 2));
    const std::int64_t behind = std::max<std::int64_t>(tail - place - end_bytes - comment, 0);
    const std::int64_t locator = file.size() - tail + place - locator_bytes;
    if (locator >= 0) {
      const std::string words = read_text(file, locator, locator_bytes);
      if (number_at(words, 0, 4) == end64_locator_signature) {
        const std::string end64 =
            read_text(file, static_cast<std::int64_t>(number_at(words, 8, 8)), end64_bytes);
        directory = {static_cast<std::int64_t>(number_at(end64, 48, 8)),
                     static_cast<std::int64_t>(number_at(end64, 40, 8))};
      }
    }
    directory.bytes_behind = behind;
    return directory;
  }
  refuse(file, "has no directory of a zip archive");
}

}  // namespace

ZipDirectory::ZipDirectory(std::shared_ptr<ByteSource> file) : file_(std::move(file)) {
  if (file_->size() < end_bytes) refuse(*file_, "is too short");
  const Directory directory = find_directory(*file_);
  if (directory.size > most_directory) refuse(*file_, "has too large a directory");
  bytes_behind_ = directory.bytes_behind;
  const std::string text = read_text(*file_, directory.begin, directory.size);
  for (std::size_t place = 0; place + member_bytes <= text.size();) {
    if (number_at(text, place, 4) != member_signature) refuse(*file_, "is damaged");
    const std::uint64_t method = number_at(text, place + 10, 2);
    std::uint64_t packed = number_at(text, place + 20, 4);
    std::uint64_t size = number_at(text, place + 24, 4);
    std::uint64_t begin = number_at(text, place + 42, 4);
    const auto name_size = static_cast<std::size_t>(number_at(text, place + 28, 2));
    const auto extra_size = static_cast<std::size_t>(number_at(text, place + 30, 2));
    const auto comment_size = static_cast<std::size_t>(number_at(text, place + 32, 2));
    if (place + member_bytes + name_size + extra_size + comment_size > text.size())
      refuse(*file_, "is damaged");
    resolve_zip64(*file_, text.substr(place + member_bytes + name_size, extra_size),
                  {&size, &packed, &begin});
    const auto most = static_cast<std::uint64_t>(file_->size());
    constexpr std::uint64_t most_inflation = 1032;
    if (packed > most || begin > most || size / most_inflation > packed ||
        (method != 0 && method != 8))
      refuse(*file_, "has a member of impossible size, or neither stored nor deflated");
    members_.push_back({text.substr(place + member_bytes, name_size), method == 8,
                        static_cast<std::int64_t>(packed), static_cast<std::int64_t>(size),
                        static_cast<std::int64_t>(begin),
                        static_cast<std::uint32_t>(number_at(text, place + 16, 4))});
    place += member_bytes + name_size + extra_size + comment_size;
  }
}

const ZipDirectory::Member* ZipDirectory::find(const std::string& name) const {
  const auto found = std::ranges::find(members_, name, &Member::name);
  return found == members_.end() ? nullptr : &*found;
}

bool ZipDirectory::has(const std::string& member) const { return find(member) != nullptr; }

std::vector<std::string> ZipDirectory::names() const {
  std::vector<std::string> names;
  for (const Member& member : members_) names.push_back(member.name);
  return names;
}

Remarks ZipDirectory::remarks_on_rest(const std::string& but) const {
  constexpr int most_named = 4;
  std::string found;
  int count = 0;
  for (const Member& member : members_) {
    if (member.is_opened || member.name == but) continue;
    if (++count <= most_named) found += (count > 1 ? ", " : "") + member.name;
  }
  Remarks remarks;
  if (count > 0)
    remarks.push_back(file_->name() + ": holds " + found + (count > most_named ? ", ..." : "") +
                      ", too, which " + (count == 1 ? "was" : "were") + " not read");
  remark_on_bytes_behind(file_->name(), "archive", bytes_behind_, remarks);
  return remarks;
}

std::shared_ptr<ByteSource> ZipDirectory::open(const std::string& name) const {
  const Member* const member = find(name);
  if (!member)
    throw comm_thread::InputError(file_->name() + ": has no " + name +
                                  "; expected a matrix as scipy.sparse.save_npz writes it");
  member->is_opened = true;
  const std::string local = read_text(*file_, member->header_begin, local_header_bytes);
  const std::int64_t begin = member->header_begin + local_header_bytes +
                             static_cast<std::int64_t>(number_at(local, 26, 2)) +
                             static_cast<std::int64_t>(number_at(local, 28, 2));
  if (begin > file_->size() - member->packed_size) refuse(*file_, "ends in " + name);
  if (member->is_deflated)
    return std::make_shared<InflatedBytes>(file_, begin, member->packed_size, member->size,
                                           Checksum{name, member->checksum});
  auto part = std::make_shared<PartOfBytes>(file_, begin, member->packed_size,
                                            Checksum{name, member->checksum});
  constexpr std::int64_t most_of_short = 4 << 10;
  if (part->size() <= most_of_short)
    part->checksum().compare(part->sum_of(0, part->size()), part->name());
  return part;
}

}  // namespace weft::spmv
