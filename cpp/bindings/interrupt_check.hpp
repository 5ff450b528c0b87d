// Lets Python interrupt long work.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>

namespace pretok {

namespace py = pybind11;

// Runs the Python handlers of pending signals, such as the handler of Ctrl-C.
class InterruptCheck {
public:
  // Throws the exception that a handler raises. Call without the GIL. A call less than 50 ms
  // after the last check does nothing.
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50))
      return;
    last_ = now;
    const py::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0)
      throw py::error_already_set();
  }

private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace pretok
