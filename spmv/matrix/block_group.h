#pragma once

namespace weft::spmv {

/// One entry of each of 2, 4 or 8 vectors, at any address aligned for a double. A register of the
/// widest instruction set, or several of a narrower one.
template <int width>
struct BlockGroup;
template <>
struct [[gnu::packed, gnu::may_alias]] BlockGroup<2> {
  double value __attribute__((vector_size(16)));
};
template <>
struct [[gnu::packed, gnu::may_alias]] BlockGroup<4> {
  double value __attribute__((vector_size(32)));
};
template <>
struct [[gnu::packed, gnu::may_alias]] BlockGroup<8> {
  double value __attribute__((vector_size(64)));
};

/// Calls `body.template operator()<width>()` with the width as a constant: 2, 4 or 8.
template <class Body>
[[gnu::always_inline]] inline void with_width(int width, const Body& body) {
  if (width == 8)
    body.template operator()<8>();
  else if (width == 4)
    body.template operator()<4>();
  else
    body.template operator()<2>();
}

}  // namespace weft::spmv
