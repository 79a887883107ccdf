// Interrupts for tests.
#pragma once

#include <chrono>
#include <thread>

#include "parallel.hpp"

namespace baytree::tests {

inline Interrupt never_asked() { return Interrupt(nullptr); }

// Longer than an Interrupt waits between two questions.
inline void wait_for_the_next_question() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

}  // namespace baytree::tests
