// The random numbers of the generator: the same sequence from a seed on every machine and library.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace pumice::shader::random {

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  // SplitMix64 (Steele, Lea, Flood 2014).
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint32_t bits32() { return static_cast<uint32_t>(next() >> 32); }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((uint64_t{bits32()} * n) >> 32); }  // n > 0
  uint32_t between(uint32_t low, uint32_t high) { return low + below(high - low + 1); }         // both included
  bool chance(uint32_t percent) { return below(100) < percent; }
  template <typename T>
  T oneOf(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<uint32_t>(list.size()))];
  }

 private:
  uint64_t state_;
};

}  // namespace pumice::shader::random
