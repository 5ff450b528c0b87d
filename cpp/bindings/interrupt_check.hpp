// Lets Python interrupt long work.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>

namespace pretok {

namespace py = pybind11;

// Runs the Python handlers of pending signals, such as that of Ctrl-C, at most every 50 ms.
// Throws the exception of a handler. Call operator() without the GIL.
class InterruptCheck {
public:
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
