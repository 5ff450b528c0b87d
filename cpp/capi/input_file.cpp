#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64 // without it, 32-bit systems cannot open files of 2 GiB or more
#endif
#include "capi/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <io.h>
#else
#include <unistd.h>
#endif

namespace pretok {
namespace {

// The maximum size of one read call: some systems refuse larger sizes.
constexpr std::size_t MAX_READ_BYTES = std::size_t{1} << 30;

#if defined(_WIN32)

using FileStatus = struct _stat64;

int open_to_read(const char *path) {
  const int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, nullptr, 0);
  if (size <= 0) {
    errno = ENOENT;
    return -1;
  }
  std::wstring wide(static_cast<std::size_t>(size), L'\0');
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide.data(), size);
  return _wopen(wide.c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT);
}
bool status_of(int file, FileStatus &status) { return _fstat64(file, &status) == 0; }
bool is_regular(const FileStatus &status) { return (status.st_mode & _S_IFMT) == _S_IFREG; }
bool seek(int file, std::uint64_t at) {
  return _lseeki64(file, static_cast<__int64>(at), SEEK_SET) >= 0;
}
long long read_some(int file, std::uint8_t *to, std::size_t count) {
  return _read(file, to, static_cast<unsigned>(count));
}
void close_file(int file) { _close(file); }

#else

using FileStatus = struct stat;

int open_to_read(const char *path) {
  // Check the type before opening the file, because opening a device may have side effects.
  FileStatus status;
  if (::stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
    errno = S_ISDIR(status.st_mode) ? EISDIR : 0;
    return -1;
  }
  return ::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}
bool status_of(int file, FileStatus &status) { return ::fstat(file, &status) == 0; }
bool is_regular(const FileStatus &status) { return S_ISREG(status.st_mode); }
bool seek(int file, std::uint64_t at) {
  return ::lseek(file, static_cast<off_t>(at), SEEK_SET) >= 0;
}
long long read_some(int file, std::uint8_t *to, std::size_t count) {
  return ::read(file, to, count);
}
void close_file(int file) { ::close(file); }

#endif

// Returns the message for an error number. The number 0 means that the file is not a regular
// file.
std::string message_of(int error_number) {
  return error_number == 0 ? "expected a regular file; copy the data to a file"
                           : std::generic_category().message(error_number);
}

} // namespace

InputFile::~InputFile() {
  if (descriptor_ >= 0)
    close_file(descriptor_);
}

std::string InputFile::open(const char *path) {
  errno = 0;
  descriptor_ = open_to_read(path);
  FileStatus status;
  if (descriptor_ < 0 || !status_of(descriptor_, status))
    return message_of(errno);
  if (!is_regular(status))
    return message_of(0);
  size_ = static_cast<std::uint64_t>(std::max<long long>(status.st_size, 0));
  return "";
}

std::size_t InputFile::read(std::uint64_t at, std::uint8_t *to, std::size_t count) {
  if (at != at_ && !seek(descriptor_, at)) {
    error_ = errno;
    return 0;
  }
  std::size_t done = 0;
  while (done < count) {
    errno = 0;
    const long long got =
        read_some(descriptor_, to + done, std::min(count - done, MAX_READ_BYTES));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      error_ = errno;
    if (got <= 0)
      break;
    done += static_cast<std::size_t>(got);
  }
  at_ = at + done;
  return done;
}

std::string InputFile::read_error() const { return error_ == 0 ? "" : message_of(error_); }

} // namespace pretok
