// A test harness in a few lines: named tests, checks that tell where and what, a count at the end.
#pragma once

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace baytree::tests {

// std::source_location, which clang knows from 15 on.
struct Where {
  const char* file;
  int number;

  static constexpr Where current(const char* file = __builtin_FILE(), int number = __builtin_LINE()) {
    return {file, number};
  }
  const char* file_name() const { return file; }
  int line() const { return number; }
};

struct Test {
  std::string_view name;
  void (*run)();
};

// The tests of a file, which make themselves known.
class Suite {
 public:
  explicit Suite(std::initializer_list<Test> tests) { all().insert(all().end(), tests); }
  static std::vector<Test>& all() {
    static std::vector<Test> tests;
    return tests;
  }
};

namespace detail {

// Only the main thread checks: tests that start threads record first and check after joining.
inline std::size_t failures = 0;
inline std::vector<std::string> circumstances;

inline constexpr std::size_t kMostReports = 5;  // of one test; a broken loop would print thousands

inline void fail(const std::string& what, const Where& where) {
  if (++failures > kMostReports) return;
  std::cout << "  " << where.file_name() << ":" << where.line() << ": " << what;
  for (const std::string& circumstance : circumstances) std::cout << " [" << circumstance << "]";
  std::cout << "\n";
}

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.precision(17);
  auto put = [&](const auto& part) {
    // The plus prints 8-bit integers as numbers.
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(part)>>) out << +part;
    else out << part;
  };
  (put(parts), ...);
  return out.str();
}

}  // namespace detail

// Names what a stretch of a test works on; failed checks print it.
class During {
 public:
  template <class... Parts>
  explicit During(const Parts&... parts) {
    detail::circumstances.push_back(detail::text(parts...));
  }
  ~During() { detail::circumstances.pop_back(); }
  During(const During&) = delete;
  During& operator=(const During&) = delete;
};

inline void check(bool holds, std::string_view what, Where where = Where::current()) {
  if (!holds) detail::fail(detail::text("not so: ", what), where);
}

template <class T>
void check_equal(const T& actual, const std::type_identity_t<T>& expected, Where where = Where::current()) {
  if (!(actual == expected)) detail::fail(detail::text("got ", actual, ", expected ", expected), where);
}

template <class T>
void check_equal(const std::vector<T>& actual, const std::vector<T>& expected, Where where = Where::current()) {
  if (actual.size() != expected.size())
    return detail::fail(detail::text("got ", actual.size(), " values, expected ", expected.size()), where);
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!(actual[i] == expected[i]))
      return detail::fail(detail::text("at ", i, " got ", actual[i], ", expected ", expected[i]), where);
}

// |actual - expected| <= tolerance; infinities must be equal.
inline void check_near(double actual, double expected, double tolerance, Where where = Where::current()) {
  if (actual == expected || std::abs(actual - expected) <= tolerance) return;
  detail::fail(detail::text("got ", actual, ", expected ", expected, ", off by ", actual - expected), where);
}

// Not the equality of ==, which would let 0.0 pass for -0.0.
inline void check_same_bits(std::span<const double> actual, std::span<const double> expected,
                            Where where = Where::current()) {
  if (actual.size() != expected.size())
    return detail::fail(detail::text("got ", actual.size(), " values, expected ", expected.size()), where);
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (std::bit_cast<std::uint64_t>(actual[i]) != std::bit_cast<std::uint64_t>(expected[i]))
      return detail::fail(detail::text("at ", i, " got ", actual[i], ", expected the bits of ", expected[i]), where);
}

// Runs something that must throw an Error; returns its message.
template <class Error, class Run>
std::string check_throws(Run&& run, Where where = Where::current()) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  detail::fail("nothing was thrown", where);
  return {};
}

// Runs the tests whose name contains `only`; returns the exit code.
inline int run_tests(std::span<const Test> tests, std::string_view only) {
  std::size_t n_passed = 0, n_failed = 0;
  for (const Test& test : tests) {
    if (test.name.find(only) == std::string_view::npos) continue;
    detail::failures = 0;
    const auto start = std::chrono::steady_clock::now();
    try {
      test.run();
    } catch (const std::exception& error) {
      detail::fail(detail::text("stopped by an exception: ", error.what()), Where::current());
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const bool passed = detail::failures == 0;
    ++(passed ? n_passed : n_failed);
    std::cout << (passed ? "ok     " : "FAILED ") << test.name
              << detail::text(" (", std::round(taken.count() * 1e3), " ms)");
    if (!passed) std::cout << ": " << detail::failures << " checks failed";
    std::cout << std::endl;
  }
  std::cout << n_passed << " passed, " << n_failed << " failed" << std::endl;
  return n_failed > 0;
}

}  // namespace baytree::tests
