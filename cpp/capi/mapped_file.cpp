#include "mapped_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <system_error>

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <io.h>
#elif (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__) &&                 \
    !defined(__wasi__)
#define PRETOK_HAS_MMAP
#include <sys/mman.h>
#include <sys/stat.h>
#endif

namespace pretok {
namespace {

constexpr std::size_t FIRST_READ = 1 << 16;

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

std::string why(int number) { return std::generic_category().message(number); }

OpenFile open_to_read(const char *path) {
#if defined(_WIN32)
  const int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, nullptr, 0);
  if (size <= 0) {
    errno = ENOENT;
    return nullptr;
  }
  std::wstring wide(static_cast<std::size_t>(size), L'\0');
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide.data(), size);
  return OpenFile(_wfopen(wide.c_str(), L"rb"));
#else
  return OpenFile(std::fopen(path, "rb"));
#endif
}

bool begins_as_gguf(const std::vector<std::uint8_t> &data) {
  return data.size() >= 4 && std::memcmp(data.data(), "GGUF", 4) == 0;
}

// The size of a file that has one; 0 for another, or where it is not known.
std::uint64_t size_of(std::FILE *file) {
#if defined(PRETOK_HAS_MMAP)
  struct stat status;
  return fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0
             ? static_cast<std::uint64_t>(status.st_size)
             : 0;
#elif defined(_WIN32)
  LARGE_INTEGER bytes;
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file)));
  return handle != INVALID_HANDLE_VALUE && GetFileSizeEx(handle, &bytes) && bytes.QuadPart > 0
             ? static_cast<std::uint64_t>(bytes.QuadPart)
             : 0;
#else
  static_cast<void>(file);
  return 0;
#endif
}

// Maps all of a file; returns nullptr where that cannot be.
void *map_file(std::FILE *file, std::size_t size) {
#if defined(PRETOK_HAS_MMAP)
  void *mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fileno(file), 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
#elif defined(_WIN32)
  static_cast<void>(size);
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file)));
  const HANDLE mapping = CreateFileMappingW(handle, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (mapping == nullptr)
    return nullptr;
  void *mapped = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
  CloseHandle(mapping);
  return mapped;
#else
  static_cast<void>(file);
  static_cast<void>(size);
  return nullptr;
#endif
}

void unmap_file(void *mapped, std::size_t size) {
#if defined(PRETOK_HAS_MMAP)
  munmap(mapped, size);
#elif defined(_WIN32)
  static_cast<void>(size);
  UnmapViewOfFile(mapped);
#else
  static_cast<void>(mapped);
  static_cast<void>(size);
#endif
}

} // namespace

MappedFile::~MappedFile() {
  if (mapped_ != nullptr)
    unmap_file(mapped_, size_);
}

std::string MappedFile::open(const char *path) {
  errno = 0;
  const OpenFile file = open_to_read(path);
  if (!file)
    return why(errno);
  const std::uint64_t known = size_of(file.get());
  for (std::size_t wanted = FIRST_READ;;) {
    const std::size_t before = read_.size();
    read_.resize(wanted);
    errno = 0;
    const std::size_t found = std::fread(read_.data() + before, 1, wanted - before, file.get());
    read_.resize(before + found);
    if (std::ferror(file.get()))
      return why(errno);
    if (read_.size() < wanted)
      break;
    if (before == 0 && begins_as_gguf(read_) &&
        known <= std::numeric_limits<std::size_t>::max() && known >= read_.size()) {
      mapped_ = map_file(file.get(), static_cast<std::size_t>(known));
      if (mapped_ != nullptr) {
        read_ = {};
        data_ = static_cast<const std::uint8_t *>(mapped_);
        size_ = static_cast<std::size_t>(known);
        return "";
      }
    }
    if (wanted >= LARGEST || known >= LARGEST)
      return "the file has 1 GiB or more; expected one of a tokenizer";
    // All of it, and one byte more that shows that it ends there.
    wanted = std::max(2 * wanted, static_cast<std::size_t>(known) + 1);
  }
  data_ = read_.data();
  size_ = read_.size();
  return "";
}

} // namespace pretok
