// Tokenizers: loading from files and memory, and their caches.
#include "capi/handles.hpp"
#include "capi/input_file.hpp"
#include "capi/load_tokenizer.hpp"
#include "capi/options.hpp"
#include "capi/status.hpp"
#include "formats/read_spec.hpp"

#include <memory>
#include <string>

namespace pretok {
namespace {

// Sets *result to a tokenizer made from `spec`. Writes the error if the file could not be read
// (load_error), or if the tokenizer cannot be made. `name` comes before messages of load_error.
pretok_status load_from(TokenizerSpec &&spec, const LoadError &load_error,
                        const std::string &name, const pretok_load_options &options,
                        pretok_tokenizer **result, pretok_error *error) {
  if (load_error)
    return fail_to_load(load_error, name, error);
  std::unique_ptr<pretok_tokenizer> tokenizer;
  const pretok_status status = load_tokenizer(std::move(spec), options, tokenizer, error);
  if (status == PRETOK_OK)
    *result = tokenizer.release();
  return status;
}

// Returns `path` for a message. Of a long path, returns only the end, which identifies the
// file.
std::string end_of_path(const char *path) {
  constexpr std::size_t MAX_MESSAGE = 97;
  const std::string all(path);
  if (all.size() <= MAX_MESSAGE)
    return all;
  std::size_t start = all.size() - MAX_MESSAGE;
  while (start < all.size() && (all[start] & 0xC0) == 0x80)
    ++start; // do not start within a character
  return "..." + all.substr(start);
}

} // namespace
} // namespace pretok

using namespace pretok;

pretok_status pretok_tokenizer_from_file(const char *path,
                                         const pretok_load_options *caller_options,
                                         pretok_tokenizer **result,
                                         pretok_error *error) noexcept {
  return guarded(error, {{path, "path"}, {result, "result"}}, [&] {
    pretok_load_options options{};
    if (const pretok_status status = read_load_options(caller_options, options, error))
      return status;
    const std::string name = end_of_path(path) + ": ";
    TokenizerSpec spec;
    LoadError load_error;
    {
      InputFile file;
      std::string file_error = file.open(path);
      if (file_error.empty()) {
        load_error = read_spec(file, spec);
        file_error = file.read_error();
      }
      if (!file_error.empty())
        return fail(error, PRETOK_CANNOT_READ, "%s%s", name.c_str(), file_error.c_str());
    }
    return load_from(std::move(spec), load_error, name, options, result, error);
  });
}

pretok_status pretok_tokenizer_from_memory(const void *data, size_t size,
                                           const pretok_load_options *caller_options,
                                           pretok_tokenizer **result,
                                           pretok_error *error) noexcept {
  return guarded(error, {{data, "data"}, {result, "result"}}, [&] {
    pretok_load_options options{};
    if (const pretok_status status = read_load_options(caller_options, options, error))
      return status;
    TokenizerSpec spec;
    const LoadError load_error = read_spec(static_cast<const std::uint8_t *>(data), size, spec);
    return load_from(std::move(spec), load_error, "", options, result, error);
  });
}

void pretok_tokenizer_free(pretok_tokenizer *freed) noexcept { delete freed; }

size_t pretok_tokenizer_cache_limit(const pretok_tokenizer *tokenizer) noexcept {
  return tokenizer != nullptr ? tokenizer->core->caches().budget().limit() : 0;
}

size_t pretok_tokenizer_cache_bytes(const pretok_tokenizer *tokenizer) noexcept {
  return tokenizer != nullptr ? tokenizer->core->caches().budget().used() : 0;
}

void pretok_tokenizer_trim(const pretok_tokenizer *tokenizer) noexcept {
  if (tokenizer != nullptr)
    tokenizer->core->caches().trim();
}

const char *pretok_tokenizer_preset(const pretok_tokenizer *tokenizer) noexcept {
  return tokenizer != nullptr ? tokenizer->core->split().name.c_str() : "";
}

size_t pretok_vocab_size(const pretok_tokenizer *tokenizer) noexcept {
  return tokenizer != nullptr ? tokenizer->core->id_limit() : 0;
}
