#include "formula/integer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "treesample/formula/count_formula.hpp"

namespace treesample {
namespace {

constexpr std::size_t kAllocation = 16;  // the overhead of an allocation

// What a library of C cannot do by itself: without memory it would end the process.
void* allocated(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

mpz_ptr new_big() {
  auto* const big = new __mpz_struct;
  mpz_init(big);
  return big;
}

}  // namespace

void refuse_integers_by_exceptions() {
  mp_set_memory_functions([](std::size_t size) { return allocated(std::malloc(size)); },
                          [](void* old, std::size_t, std::size_t size) { return allocated(std::realloc(old, size)); },
                          [](void* old, std::size_t) { std::free(old); });
}

Integer::Integer(const std::string& digits) : big_(new_big()) {
  mpz_set_str(big_, digits.c_str(), 10);
  settle();
}

Integer Integer::power(std::uint64_t base, std::uint64_t exponent) {
  Integer result;
  result.big_ = new_big();
  mpz_ui_pow_ui(result.big_, base, exponent);
  result.settle();
  return result;
}

Integer::Integer(const Integer& other) : small_(other.small_) {
  if (other.big_ == nullptr) return;
  big_ = new_big();
  mpz_set(big_, other.big_);
}

void Integer::drop() {
  if (big_ == nullptr) return;
  mpz_clear(big_);
  delete big_;
}

void Integer::make_big() {
  if (big_ != nullptr) return;
  big_ = new_big();
  mpz_set_si(big_, small_);
  small_ = 0;
}

void Integer::settle() {
  static_assert(sizeof(long) == sizeof(std::int64_t));
  if (!mpz_fits_slong_p(big_)) return;
  small_ = mpz_get_si(big_);
  drop();
  big_ = nullptr;
}

Integer& Integer::operator+=(const Integer& other) {
  if (big_ == nullptr && other.big_ == nullptr) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(small_, other.small_, &sum)) {
      small_ = sum;
      return *this;
    }
  }
  make_big();
  if (other.big_ != nullptr) {
    mpz_add(big_, big_, other.big_);
  } else if (other.small_ >= 0) {
    mpz_add_ui(big_, big_, static_cast<unsigned long>(other.small_));
  } else {
    mpz_sub_ui(big_, big_, -static_cast<unsigned long>(other.small_));
  }
  settle();
  return *this;
}

Integer& Integer::operator*=(const Integer& other) {
  if (big_ == nullptr && other.big_ == nullptr) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(small_, other.small_, &product)) {
      small_ = product;
      return *this;
    }
  }
  make_big();
  if (other.big_ != nullptr) {
    mpz_mul(big_, big_, other.big_);
  } else {
    mpz_mul_si(big_, big_, other.small_);
  }
  settle();
  return *this;
}

void Integer::shift(std::uint64_t bits) {
  if (bits == 0 || is_zero()) return;
  make_big();
  mpz_mul_2exp(big_, big_, bits);
  settle();
}

Integer common_divisor(const Integer& a, const Integer& b) {
  Integer divisor = a, other = b;
  divisor.make_big();
  other.make_big();
  mpz_gcd(divisor.big_, divisor.big_, other.big_);
  divisor.settle();
  return divisor;
}

void Integer::divide_exactly(const Integer& divisor) {
  if (divisor.is_one()) return;
  Integer by = divisor;
  by.make_big();
  make_big();
  mpz_divexact(big_, big_, by.big_);
  settle();
}

void Integer::to_words(std::span<std::uint64_t> words) const {
  mpz_t number;
  mpz_init(number);
  if (big_ != nullptr) {
    mpz_set(number, big_);
  } else {
    mpz_set_si(number, small_);
  }
  mpz_fdiv_r_2exp(number, number, 64 * words.size());  // from 0 on
  std::fill(words.begin(), words.end(), 0);
  mpz_export(words.data(), nullptr, -1, sizeof(std::uint64_t), 0, 0, number);
  mpz_clear(number);
}

Integer Integer::of_words(std::span<const std::uint64_t> words) {
  Integer result;
  result.big_ = new_big();
  mpz_import(result.big_, words.size(), -1, sizeof(std::uint64_t), 0, 0, words.data());
  if (!words.empty() && words.back() >> 63 != 0) {
    mpz_t size;
    mpz_init(size);
    mpz_setbit(size, 64 * words.size());
    mpz_sub(result.big_, result.big_, size);
    mpz_clear(size);
  }
  result.settle();
  return result;
}

double Integer::log_magnitude() const {
  if (big_ == nullptr) return std::log(std::abs(static_cast<double>(small_)));
  long exponent = 0;
  const double mantissa = mpz_get_d_2exp(&exponent, big_);
  constexpr double kLog2 = 0.693147180559945309417;
  return std::log(std::abs(mantissa)) + static_cast<double>(exponent) * kLog2;
}

std::string Integer::text() const {
  if (big_ == nullptr) return std::to_string(small_);
  std::vector<char> digits(mpz_sizeinbase(big_, 10) + 2);
  mpz_get_str(digits.data(), 10, big_);
  return digits.data();
}

std::uint64_t Integer::bytes() const {
  if (big_ == nullptr) return 0;
  return sizeof(__mpz_struct) + static_cast<std::uint64_t>(big_->_mp_alloc) * sizeof(mp_limb_t) + 2 * kAllocation;
}

void IntegerProduct::multiply(Integer factor) {
  parts_.emplace_back(0, std::move(factor));
  while (parts_.size() > 1 && parts_[parts_.size() - 2].first == parts_.back().first) {
    const Integer last = std::move(parts_.back().second);
    parts_.pop_back();
    ++parts_.back().first;
    parts_.back().second *= last;
  }
}

Integer IntegerProduct::value() const {
  Integer product(1);
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) product *= part->second;
  return product;
}

}  // namespace treesample
