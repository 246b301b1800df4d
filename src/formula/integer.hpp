// Integers of any size. Most counts of components are small, so those up to 63 bits are kept without an allocation.
#pragma once

#include <gmp.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace treesample {

class Integer {
 public:
  Integer() = default;
  explicit Integer(std::int64_t value) : small_(value) {}
  // Decimal digits with an optional sign; the caller has checked them.
  explicit Integer(const std::string& digits);
  static Integer power(std::uint64_t base, std::uint64_t exponent);
  Integer(const Integer& other);
  Integer(Integer&& other) noexcept
      : small_(std::exchange(other.small_, 0)), big_(std::exchange(other.big_, nullptr)) {}
  Integer& operator=(Integer other) noexcept {
    std::swap(small_, other.small_);
    std::swap(big_, other.big_);
    return *this;
  }
  ~Integer() { drop(); }

  [[nodiscard]] bool is_zero() const { return small_ == 0 && big_ == nullptr; }
  [[nodiscard]] bool is_one() const { return small_ == 1 && big_ == nullptr; }
  [[nodiscard]] bool is_negative() const { return big_ == nullptr ? small_ < 0 : mpz_sgn(big_) < 0; }
  Integer& operator+=(const Integer& other);
  Integer& operator*=(const Integer& other);
  // Times 2^bits.
  void shift(std::uint64_t bits);
  // 0 only if both are 0.
  friend Integer common_divisor(const Integer& a, const Integer& b);
  // Pre: it is a multiple of the divisor, which is not 0.
  void divide_exactly(const Integer& divisor);

  // The number modulo 2^(64 size), from the lowest word on; a negative one as its two's complement. And back, to the
  // number of the smallest magnitude.
  void to_words(std::span<std::uint64_t> words) const;
  static Integer of_words(std::span<const std::uint64_t> words);

  // The logarithm of its magnitude, right to a few units in the last place; -inf for 0.
  [[nodiscard]] double log_magnitude() const;
  [[nodiscard]] std::string text() const;
  // Beyond the object itself.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  void drop();
  void make_big();
  // Back to a small one if it fits.
  void settle();

  std::int64_t small_ = 0;  // 0 if big_ is there
  mpz_ptr big_ = nullptr;
};

// A product of many integers: those of about the same size are multiplied first.
class IntegerProduct {
 public:
  void multiply(Integer factor);
  [[nodiscard]] Integer value() const;

 private:
  std::vector<std::pair<int, Integer>> parts_;  // of 2^number factors, the largest ones first
};

// Seconds for the last steps of a sum with so many digits, its lowest terms and its text: more than they take. They
// cannot be asked to end.
inline double seconds_for_digits(double num_digits) { return 1e-6 * num_digits; }

}  // namespace treesample
