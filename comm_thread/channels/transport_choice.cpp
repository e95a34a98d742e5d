#include "comm_thread/channels/transport_choice.h"

#include <algorithm>
#include <array>

#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {
namespace {

struct NamedChoice {
  std::string_view name;
  TransportChoice choice;
};

// The first name of a choice is the one shown.
constexpr std::array choices{
    NamedChoice{"two-sided", {}},
    NamedChoice{"one-sided:flush", {TransportKind::one_sided, OneSidedVariant::flush}},
    NamedChoice{"one-sided:flush-local", {TransportKind::one_sided, OneSidedVariant::flush_local}},
    NamedChoice{"one-sided:overlap", {TransportKind::one_sided, OneSidedVariant::overlap}},
    NamedChoice{"one-sided:overlap-local", {TransportKind::one_sided}},
    NamedChoice{"one-sided", {TransportKind::one_sided}},
    NamedChoice{"shared", {TransportKind::shared}},
    NamedChoice{"shmem:put",
                {TransportKind::shmem, OneSidedVariant::overlap_local, OpenShmemVariant::put}},
    NamedChoice{"shmem:put-overlap", {TransportKind::shmem}},
    NamedChoice{"shmem", {TransportKind::shmem}},
};

bool is_same(const TransportChoice& a, const TransportChoice& b) {
  return a.kind == b.kind && (a.kind != TransportKind::one_sided || a.one_sided == b.one_sided) &&
         (a.kind != TransportKind::shmem || a.shmem == b.shmem);
}

}  // namespace

const char* transport_words() {
  return "two-sided, one-sided[:flush|flush-local|overlap|overlap-local],\n"
         "shared (one node) or shmem[:put|put-overlap] (build with --config=oshmem)";
}

TransportChoice transport_choice(std::string_view text) {
  for (const NamedChoice& known : choices)
    if (known.name == text) return known.choice;
  std::string words = transport_words();
  std::ranges::replace(words, '\n', ' ');
  throw InputError("transport: found '" + std::string(text) + "'; expected " + words);
}

std::string name(const TransportChoice& choice) {
  for (const NamedChoice& known : choices)
    if (is_same(known.choice, choice)) return std::string(known.name);
  return {};
}

}  // namespace weft::comm_thread
