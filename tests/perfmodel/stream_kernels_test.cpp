#include "perfmodel/stream_kernels.h"

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "perfmodel/huge_page_buffer.h"

namespace {

using weft::perfmodel::Stream;

constexpr std::int64_t count = 128 + 8 * 5 + 3;  // two kinds of turns, and a remainder

struct Arrays {
  weft::perfmodel::HugePageBuffer<double> a{count + 1}, b{count + 1}, c{count + 1};

  Arrays() {
    for (std::size_t i = 0; i <= count; ++i) {
      a[i] = static_cast<double>(i);
      b[i] = 100;
      c[i] = -1;
    }
  }
  double run(Stream stream) {
    return weft::perfmodel::run_stream(stream, a.data(), b.data(), c.data(), count);
  }
};

}  // namespace

TEST_CASE("loops past the caches write what ordinary loops write, and nothing else") {
  for (const auto& [plain, past] : {std::pair{Stream::store, Stream::store_past},
                                    {Stream::copy, Stream::copy_past},
                                    {Stream::triad, Stream::triad_past}}) {
    INFO(name(plain));
    Arrays one, other;
    one.run(plain);
    other.run(past);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(one.c[i] == other.c[i]);
      CHECK(one.c[i] != -1);
    }
    CHECK(one.c[count] == -1);
    CHECK(other.c[count] == -1);
  }
}

TEST_CASE("load adds, copy copies and update changes in place") {
  Arrays arrays;
  CHECK(arrays.run(Stream::load) == count * (count - 1) / 2);
  arrays.run(Stream::copy);
  CHECK(arrays.c[7] == 7);
  CHECK(arrays.c[count - 1] == count - 1);
  arrays.run(Stream::update);
  CHECK(arrays.a[10] == Approx(10).epsilon(1e-5));
  CHECK(arrays.a[10] != 10);
  CHECK(arrays.a[count] == count);
}

TEST_CASE("every pass of a loop does its work") {
  Arrays arrays;
  const auto run = [&](Stream stream) {
    return weft::perfmodel::run_stream(stream, arrays.a.data(), arrays.b.data(), arrays.c.data(),
                                       count, 3);
  };
  CHECK(run(Stream::load) == 3 * count * (count - 1) / 2);
  run(Stream::update);
  CHECK(arrays.a[10] == Approx(10 * std::pow(0.999999, 3)).epsilon(1e-12));
  CHECK(arrays.a[count - 1] == Approx((count - 1) * std::pow(0.999999, 3)).epsilon(1e-12));
  run(Stream::triad_past);
  CHECK(arrays.c[count - 1] == Approx(arrays.a[count - 1] + 0.999999 * 100));
}

TEST_CASE("storing past the caches saves the load of what is overwritten") {
  CHECK(traffic_of(Stream::copy).total_bytes() - traffic_of(Stream::copy_past).total_bytes() == 8);
  CHECK(traffic_of(Stream::load).write_share() == 0);
  CHECK(traffic_of(Stream::triad).write_share() == 0.25);
  CHECK(traffic_of(Stream::update).write_share() == 0.5);
}

TEST_CASE("work in registers stays finite") {
  CHECK(std::isfinite(weft::perfmodel::run_in_registers(1000)));
}
