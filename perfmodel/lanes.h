#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

namespace weft::perfmodel {

/// `count` values of type T side by side, in registers of `register_bytes`.
///
/// It is one vector of the compiler where that fits into a register, else two halves:
///
///     8 doubles, 64-byte registers:  [ 0 1 2 3 4 5 6 7 ]           one vector
///                32-byte registers:  [ 0 1 2 3 ] [ 4 5 6 7 ]       two halves
///                16-byte registers:  [ 0 1 ] [ 2 3 ] [ 4 5 ] [ 6 7 ]  halves of halves
///
/// GCC keeps a vector that is larger than a register in memory between any two operations, which
/// made kernels two to five times as slow; it keeps halves in registers. Each operation works lane
/// by lane, so results do not depend on `register_bytes`.
/// Lifetime: inside a kernel only. Layout and alignment differ between instruction sets, so what
/// functions share is an array of numbers, which `load` and `store` take at any address.
template <class T, int count, int register_bytes,
          bool is_whole = static_cast<int>(sizeof(T)) * count <= register_bytes>
struct LanesOf;

template <class T, int count, int register_bytes>
struct LanesOf<T, count, register_bytes, true> {
  using Element = T;
  using Register = LanesOf;
  using Vector __attribute__((vector_size(sizeof(T) * count))) = T;
  template <class U>
  using Like = LanesOf<U, count, register_bytes>;
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  using Truth = std::conditional_t<sizeof(T) == 8, long long, int>;
  static constexpr int size = count;

  Vector v;

  LanesOf() = default;
  [[gnu::always_inline]] explicit LanesOf(const Vector& vector) : v(vector) {}
  /// Puts one value into every lane, +0 for -0; operators with a number keep the sign.
  /// The addition is there on purpose: GCC 12 fills a vector lane by lane that is stored in this
  /// function, which knows no wide registers, but not one that it has computed.
  [[gnu::always_inline]] explicit LanesOf(T value) : v(Vector{} + value) {}
  /// `value(lane)` for each lane.
  template <class Each>
  [[gnu::always_inline]] static LanesOf of(const Each& each) {
    if constexpr (count == 2)
      return LanesOf(Vector{each(0), each(1)});
    else if constexpr (count == 4)
      return LanesOf(Vector{each(0), each(1), each(2), each(3)});
    else
      return LanesOf(
          Vector{each(0), each(1), each(2), each(3), each(4), each(5), each(6), each(7)});
  }

  /// These lanes times each(lane). A product with `of` would be made lane by lane in memory.
  template <class Each>
  [[gnu::always_inline]] LanesOf times_each(const Each& each) const {
    if constexpr (count == 2)
      return LanesOf(v * Vector{each(0), each(1)});
    else if constexpr (count == 4)
      return LanesOf(v * Vector{each(0), each(1), each(2), each(3)});
    else
      return LanesOf(
          v * Vector{each(0), each(1), each(2), each(3), each(4), each(5), each(6), each(7)});
  }

  /// These lanes where all bits of each(lane) are set, and +0 where none is.
  template <class Each>
  [[gnu::always_inline]] LanesOf kept_where_each(const Each& each) const {
    using Truths = typename Like<Truth>::Vector;
    const auto bits = reinterpret_cast<Truths>(v);
    if constexpr (count == 2)
      return LanesOf(reinterpret_cast<Vector>(bits & Truths{each(0), each(1)}));
    else if constexpr (count == 4)
      return LanesOf(reinterpret_cast<Vector>(bits & Truths{each(0), each(1), each(2), each(3)}));
    else
      return LanesOf(reinterpret_cast<Vector>(
          bits & Truths{each(0), each(1), each(2), each(3), each(4), each(5), each(6), each(7)}));
  }

  [[gnu::always_inline]] static LanesOf load(const T* place) {
    const Vector value = reinterpret_cast<const Place*>(place)->value;
    return LanesOf(value);
  }
  [[gnu::always_inline]] void store(T* place) const { reinterpret_cast<Place*>(place)->value = v; }
  [[gnu::always_inline]] T operator[](int lane) const { return v[lane]; }
  [[gnu::always_inline]] void set(int lane, T value) { v[lane] = value; }
  /// Calls use(register) for each register, in order.
  template <class Use>
  [[gnu::always_inline]] void for_each_register(const Use& use) const {
    use(*this);
  }

  [[gnu::always_inline]] friend LanesOf operator+(const LanesOf& a, const LanesOf& b) {
    return LanesOf(a.v + b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator+(const LanesOf& a, T b) {
    return LanesOf(a.v + b);
  }
  [[gnu::always_inline]] friend LanesOf operator+(T a, const LanesOf& b) {
    return LanesOf(a + b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator-(const LanesOf& a, const LanesOf& b) {
    return LanesOf(a.v - b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator-(const LanesOf& a, T b) {
    return LanesOf(a.v - b);
  }
  [[gnu::always_inline]] friend LanesOf operator-(T a, const LanesOf& b) {
    return LanesOf(a - b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator*(const LanesOf& a, const LanesOf& b) {
    return LanesOf(a.v * b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator*(const LanesOf& a, T b) {
    return LanesOf(a.v * b);
  }
  [[gnu::always_inline]] friend LanesOf operator*(T a, const LanesOf& b) {
    return LanesOf(a * b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator/(const LanesOf& a, const LanesOf& b) {
    return LanesOf(a.v / b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator/(const LanesOf& a, T b) {
    return LanesOf(a.v / b);
  }
  [[gnu::always_inline]] friend LanesOf operator/(T a, const LanesOf& b) {
    return LanesOf(a / b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator-(const LanesOf& a) { return LanesOf(-a.v); }
  [[gnu::always_inline]] friend LanesOf operator&(const LanesOf& a, const LanesOf& b) {
    return LanesOf(a.v & b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator&(const LanesOf& a, T b) {
    return LanesOf(a.v & b);
  }
  [[gnu::always_inline]] friend LanesOf operator|(const LanesOf& a, const LanesOf& b) {
    return LanesOf(a.v | b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator|(const LanesOf& a, T b) {
    return LanesOf(a.v | b);
  }
  [[gnu::always_inline]] friend LanesOf operator^(const LanesOf& a, const LanesOf& b) {
    return LanesOf(a.v ^ b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator^(const LanesOf& a, T b) {
    return LanesOf(a.v ^ b);
  }
  [[gnu::always_inline]] friend LanesOf operator<<(const LanesOf& a, int bits) {
    return LanesOf(a.v << bits);
  }
  [[gnu::always_inline]] friend LanesOf operator>>(const LanesOf& a, int bits) {
    return LanesOf(a.v >> bits);
  }
  [[gnu::always_inline]] friend LanesOf operator>>(const LanesOf& a, const LanesOf& bits) {
    return LanesOf(a.v >> bits.v);
  }
  /// All bits of a lane are set where it is true.
  [[gnu::always_inline]] friend Like<Truth> operator>(const LanesOf& a, const LanesOf& b) {
    return Like<Truth>(a.v > b.v);
  }
  [[gnu::always_inline]] friend Like<Truth> operator>(const LanesOf& a, T b) {
    return Like<Truth>(a.v > b);
  }
  [[gnu::always_inline]] friend Like<Truth> operator>=(const LanesOf& a, const LanesOf& b) {
    return Like<Truth>(a.v >= b.v);
  }
  [[gnu::always_inline]] friend Like<Truth> operator==(const LanesOf& a, const LanesOf& b) {
    return Like<Truth>(a.v == b.v);
  }
  [[gnu::always_inline]] friend LanesOf operator~(const LanesOf& a) { return LanesOf(~a.v); }
  [[gnu::always_inline]] friend LanesOf select(const Like<Truth>& where, const LanesOf& a,
                                               const LanesOf& b) {
    return LanesOf(where.v ? a.v : b.v);
  }
  /// Returns these bits as values of another type of the same size.
  template <class U>
  [[gnu::always_inline]] Like<U> bits_as() const {
    return Like<U>(reinterpret_cast<typename Like<U>::Vector>(v));
  }
  /// Converts to and from arrays of another type, lane by lane.
  template <class U>
  [[gnu::always_inline]] static LanesOf load_converted(const U* place) {
    return LanesOf(
        __builtin_convertvector(reinterpret_cast<const PlaceOf<U>*>(place)->value, Vector));
  }
  template <class U>
  [[gnu::always_inline]] void store_converted(U* place) const {
    using Converted = decltype(PlaceOf<U>::value);
    reinterpret_cast<PlaceOf<U>*>(place)->value = __builtin_convertvector(v, Converted);
  }
  /// The sum of all lanes: the upper half is added to the lower one, then again.
  [[gnu::always_inline]] T sum() const {
    if constexpr (count == 2)
      return v[0] + v[1];
    else if constexpr (count == 4)
      return (v[0] + v[2]) + (v[1] + v[3]);
    else
      return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
  }
  /// The elements one position before those of `now`; `previous` has those before.
  [[gnu::always_inline]] static LanesOf one_before(const LanesOf& previous, const LanesOf& now) {
    if constexpr (count == 2)
      return LanesOf(__builtin_shufflevector(previous.v, now.v, 1, 2));
    else if constexpr (count == 4)
      return LanesOf(__builtin_shufflevector(previous.v, now.v, 3, 4, 5, 6));
    else
      return LanesOf(__builtin_shufflevector(previous.v, now.v, 7, 8, 9, 10, 11, 12, 13, 14));
  }

 private:
  // Loaded by value through a packed struct: Clang drops the alignment of an alias.
  struct [[gnu::packed, gnu::may_alias]] Place {
    Vector value;
  };
  template <class U>
  struct [[gnu::packed, gnu::may_alias]] PlaceOf {
    U value __attribute__((vector_size(sizeof(U) * count)));
  };
};

template <class T, int count, int register_bytes>
struct LanesOf<T, count, register_bytes, false> {
  using Element = T;
  using Half = LanesOf<T, count / 2, register_bytes>;
  using Register = typename Half::Register;
  template <class U>
  using Like = LanesOf<U, count, register_bytes>;
  using Word = typename Half::Word;
  using Truth = typename Half::Truth;
  static constexpr int size = count;

  Half low;
  Half high;

  LanesOf() = default;
  [[gnu::always_inline]] LanesOf(const Half& first, const Half& second)
      : low(first), high(second) {}
  [[gnu::always_inline]] explicit LanesOf(T value) : low(value), high(value) {}
  template <class Each>
  [[gnu::always_inline]] static LanesOf of(const Each& each) {
    return {Half::of(each), Half::of([&](int lane) __attribute__((always_inline)) {
              return each(lane + count / 2);
            })};
  }

  template <class Each>
  [[gnu::always_inline]] LanesOf times_each(const Each& each) const {
    return {low.times_each(each), high.times_each([&](int lane) __attribute__((always_inline)) {
              return each(lane + count / 2);
            })};
  }

  template <class Each>
  [[gnu::always_inline]] LanesOf kept_where_each(const Each& each) const {
    return {low.kept_where_each(each),
            high.kept_where_each(
                [&](int lane) __attribute__((always_inline)) { return each(lane + count / 2); })};
  }

  [[gnu::always_inline]] static LanesOf load(const T* place) {
    return {Half::load(place), Half::load(place + count / 2)};
  }
  [[gnu::always_inline]] void store(T* place) const {
    low.store(place);
    high.store(place + count / 2);
  }
  [[gnu::always_inline]] T operator[](int lane) const {
    return lane < count / 2 ? low[lane] : high[lane - count / 2];
  }
  [[gnu::always_inline]] void set(int lane, T value) {
    if (lane < count / 2)
      low.set(lane, value);
    else
      high.set(lane - count / 2, value);
  }
  template <class Use>
  [[gnu::always_inline]] void for_each_register(const Use& use) const {
    low.for_each_register(use);
    high.for_each_register(use);
  }

  [[gnu::always_inline]] friend LanesOf operator+(const LanesOf& a, const LanesOf& b) {
    return {a.low + b.low, a.high + b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator+(const LanesOf& a, T b) {
    return {a.low + b, a.high + b};
  }
  [[gnu::always_inline]] friend LanesOf operator+(T a, const LanesOf& b) {
    return {a + b.low, a + b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator-(const LanesOf& a, const LanesOf& b) {
    return {a.low - b.low, a.high - b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator-(const LanesOf& a, T b) {
    return {a.low - b, a.high - b};
  }
  [[gnu::always_inline]] friend LanesOf operator-(T a, const LanesOf& b) {
    return {a - b.low, a - b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator*(const LanesOf& a, const LanesOf& b) {
    return {a.low * b.low, a.high * b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator*(const LanesOf& a, T b) {
    return {a.low * b, a.high * b};
  }
  [[gnu::always_inline]] friend LanesOf operator*(T a, const LanesOf& b) {
    return {a * b.low, a * b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator/(const LanesOf& a, const LanesOf& b) {
    return {a.low / b.low, a.high / b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator/(const LanesOf& a, T b) {
    return {a.low / b, a.high / b};
  }
  [[gnu::always_inline]] friend LanesOf operator/(T a, const LanesOf& b) {
    return {a / b.low, a / b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator-(const LanesOf& a) { return {-a.low, -a.high}; }
  [[gnu::always_inline]] friend LanesOf operator&(const LanesOf& a, const LanesOf& b) {
    return {a.low & b.low, a.high & b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator&(const LanesOf& a, T b) {
    return {a.low & b, a.high & b};
  }
  [[gnu::always_inline]] friend LanesOf operator|(const LanesOf& a, const LanesOf& b) {
    return {a.low | b.low, a.high | b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator|(const LanesOf& a, T b) {
    return {a.low | b, a.high | b};
  }
  [[gnu::always_inline]] friend LanesOf operator^(const LanesOf& a, const LanesOf& b) {
    return {a.low ^ b.low, a.high ^ b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator^(const LanesOf& a, T b) {
    return {a.low ^ b, a.high ^ b};
  }
  [[gnu::always_inline]] friend LanesOf operator<<(const LanesOf& a, int bits) {
    return {a.low << bits, a.high << bits};
  }
  [[gnu::always_inline]] friend LanesOf operator>>(const LanesOf& a, int bits) {
    return {a.low >> bits, a.high >> bits};
  }
  [[gnu::always_inline]] friend LanesOf operator>>(const LanesOf& a, const LanesOf& bits) {
    return {a.low >> bits.low, a.high >> bits.high};
  }
  [[gnu::always_inline]] friend Like<Truth> operator>(const LanesOf& a, const LanesOf& b) {
    return {a.low > b.low, a.high > b.high};
  }
  [[gnu::always_inline]] friend Like<Truth> operator>(const LanesOf& a, T b) {
    return {a.low > b, a.high > b};
  }
  [[gnu::always_inline]] friend Like<Truth> operator>=(const LanesOf& a, const LanesOf& b) {
    return {a.low >= b.low, a.high >= b.high};
  }
  [[gnu::always_inline]] friend Like<Truth> operator==(const LanesOf& a, const LanesOf& b) {
    return {a.low == b.low, a.high == b.high};
  }
  [[gnu::always_inline]] friend LanesOf operator~(const LanesOf& a) { return {~a.low, ~a.high}; }
  [[gnu::always_inline]] friend LanesOf select(const Like<Truth>& where, const LanesOf& a,
                                               const LanesOf& b) {
    return {select(where.low, a.low, b.low), select(where.high, a.high, b.high)};
  }
  template <class U>
  [[gnu::always_inline]] Like<U> bits_as() const {
    return {low.template bits_as<U>(), high.template bits_as<U>()};
  }
  template <class U>
  [[gnu::always_inline]] static LanesOf load_converted(const U* place) {
    return {Half::load_converted(place), Half::load_converted(place + count / 2)};
  }
  template <class U>
  [[gnu::always_inline]] void store_converted(U* place) const {
    low.store_converted(place);
    high.store_converted(place + count / 2);
  }
  [[gnu::always_inline]] T sum() const { return (low + high).sum(); }
  [[gnu::always_inline]] static LanesOf one_before(const LanesOf& previous, const LanesOf& now) {
    return {Half::one_before(previous.high, now.low), Half::one_before(now.low, now.high)};
  }
};

template <class T, int count, int register_bytes>
[[gnu::always_inline]] inline void operator+=(LanesOf<T, count, register_bytes>& a,
                                              const LanesOf<T, count, register_bytes>& b) {
  a = a + b;
}
template <class T, int count, int register_bytes>
[[gnu::always_inline]] inline void operator-=(LanesOf<T, count, register_bytes>& a,
                                              const LanesOf<T, count, register_bytes>& b) {
  a = a - b;
}

/// One number or several from `place` on: Value is T or a LanesOf<T, …>, so that the remainder of a
/// loop has the same statements as the loop.
template <class Value, class T>
[[gnu::always_inline]] inline Value load(const T* place) {
  if constexpr (std::is_same_v<Value, T>)
    return *place;
  else
    return Value::load(place);
}
template <class T, class Value>
[[gnu::always_inline]] inline void store(T* place, const Value& value) {
  if constexpr (std::is_same_v<Value, T>)
    *place = value;
  else
    value.store(place);
}

}  // namespace weft::perfmodel
