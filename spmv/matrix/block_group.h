#pragma once

namespace weft::spmv {

/// Calls `body.template operator()<width>()` with the width as a constant: 2, 4, 8 or 16.
template <class Body>
[[gnu::always_inline]] inline void with_width(int width, const Body& body) {
  if (width == 16)
    body.template operator()<16>();
  else if (width == 8)
    body.template operator()<8>();
  else if (width == 4)
    body.template operator()<4>();
  else
    body.template operator()<2>();
}

}  // namespace weft::spmv
