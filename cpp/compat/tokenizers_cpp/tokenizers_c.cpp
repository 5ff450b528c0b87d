#include "compat/tokenizers_cpp/tokenizers_c.h"

#include "compat/tokenizers_cpp/byte_level_json.hpp"
#include "compat/tokenizers_cpp/model.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>

namespace {

struct Handle {
  std::unique_ptr<pretok::Model> model;
  std::string decoded;
};

// No exception may leave a C function, so this text needs no memory of its own.
thread_local char last_error[256] = "";

void set_error(const char *message) noexcept {
  std::size_t size = 0;
  while (message[size] != '\0' && size + 1 < sizeof last_error) {
    last_error[size] = message[size];
    ++size;
  }
  last_error[size] = '\0';
}

// Returns work(), or `failure` if it throws.
template <typename T, typename Work> T guarded(T failure, Work work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    set_error("there is not enough memory");
  } catch (const std::exception &error) {
    set_error(error.what());
  }
  return failure;
}

Handle *handle_of(TokenizerHandle handle) noexcept {
  if (handle == nullptr)
    set_error("the handle is NULL; expected a tokenizer");
  return static_cast<Handle *>(handle);
}

bool is_missing(const void *argument, const char *message) noexcept {
  if (argument == nullptr)
    set_error(message);
  return argument == nullptr;
}

std::string_view view(const char *data, std::size_t size) noexcept {
  return data == nullptr ? std::string_view() : std::string_view(data, size);
}

// Sets results[i] to a copy of the ids, which pretok_ids_free can free.
bool copy_ids(const std::uint32_t *ids, std::size_t count, TokenizerEncodeResult &result) {
  void *const copy = std::malloc(std::max<std::size_t>(count, 1) * sizeof *ids);
  if (copy == nullptr)
    return false;
  std::copy_n(ids, count, static_cast<std::uint32_t *>(copy)); // without ids, `ids` is null
  // Ids are below 2^24. A pointer to unsigned int may point to int.
  result = {static_cast<int *>(copy), count};
  return true;
}

// Encodes all texts on all processors. Returns false, without a result, if it cannot.
bool encode_all(const Handle *tokenizer, const char **data, const size_t *sizes,
                std::size_t count, bool adds_special_tokens, TokenizerEncodeResult *results) {
  if (tokenizer == nullptr)
    return false;
  return guarded(false, [&] {
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < count; ++i) {
      if (data[i] == nullptr && sizes[i] != 0)
        return false;
      texts.push_back(view(data[i], sizes[i]));
    }
    std::string error;
    std::uint32_t *ids = nullptr;
    std::vector<std::size_t> ends;
    if (!tokenizer->model->encode_batch(texts, adds_special_tokens, ids, ends, error))
      return false;
    const std::unique_ptr<std::uint32_t, void (*)(std::uint32_t *)> owner(ids, pretok_ids_free);
    std::size_t start = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!copy_ids(ids + start, ends[i] - start, results[i])) {
        tokenizers_free_encode_results(results, i);
        return false;
      }
      start = ends[i];
    }
    return true;
  });
}

TokenizerHandle load(std::string_view data, pretok::Model::Format format) {
  std::string error;
  auto handle = std::make_unique<Handle>();
  handle->model = pretok::Model::load(data, format, error);
  if (handle->model != nullptr)
    return handle.release();
  set_error(error.c_str());
  return nullptr;
}

} // namespace

TokenizerHandle tokenizers_new_from_str(const char *json, size_t len) {
  return guarded<TokenizerHandle>(
      nullptr, [&] { return load(view(json, len), pretok::Model::Format::JSON); });
}

TokenizerHandle byte_level_bpe_tokenizers_new_from_str(const char *vocab, size_t vocab_len,
                                                       const char *merges, size_t merges_len,
                                                       const char *added_tokens,
                                                       size_t added_tokens_len) {
  return guarded<TokenizerHandle>(nullptr, [&]() -> TokenizerHandle {
    std::string json;
    if (const pretok::LoadError error =
            pretok::write_byte_level_json(view(vocab, vocab_len), view(merges, merges_len),
                                          view(added_tokens, added_tokens_len), json)) {
      set_error(error.message.c_str());
      return nullptr;
    }
    return load(json, pretok::Model::Format::WHOLE);
  });
}

void tokenizers_encode(TokenizerHandle handle, const char *data, size_t len,
                       int add_special_token, TokenizerEncodeResult *result) {
  if (is_missing(result, "result is NULL; expected a pointer"))
    return;
  *result = {nullptr, 0};
  const Handle *const tokenizer = handle_of(handle);
  if (tokenizer == nullptr || (len != 0 && is_missing(data, "data is NULL; expected a text")))
    return;
  guarded(false, [&] {
    std::string error;
    std::uint32_t *ids = nullptr;
    std::size_t count = 0;
    if (!tokenizer->model->encode(view(data, len), add_special_token != 0, ids, count, error)) {
      set_error(error.c_str());
      return false;
    }
    // Ids are below 2^24. A pointer to unsigned int may point to int.
    *result = {reinterpret_cast<int *>(ids), count};
    return true;
  });
}

void tokenizers_encode_batch(TokenizerHandle handle, const char **data, size_t *len,
                             size_t num_seqs, int add_special_token,
                             TokenizerEncodeResult *results) {
  if (num_seqs == 0 || is_missing(results, "results is NULL; expected a pointer"))
    return;
  for (std::size_t i = 0; i < num_seqs; ++i)
    results[i] = {nullptr, 0};
  if (is_missing(data, "data is NULL; expected texts") ||
      is_missing(len, "len is NULL; expected sizes"))
    return;
  if (encode_all(handle_of(handle), data, len, num_seqs, add_special_token != 0, results))
    return;
  // One text fails: the others have their ids all the same.
  for (std::size_t i = 0; i < num_seqs; ++i)
    tokenizers_encode(handle, data[i], len[i], add_special_token, &results[i]);
}

void tokenizers_free_encode_results(TokenizerEncodeResult *results, size_t num_seqs) {
  for (std::size_t i = 0; results != nullptr && i < num_seqs; ++i) {
    pretok_ids_free(reinterpret_cast<std::uint32_t *>(results[i].token_ids));
    results[i] = {nullptr, 0};
  }
}

void tokenizers_decode(TokenizerHandle handle, const uint32_t *data, size_t len,
                       int skip_special_token) {
  Handle *const tokenizer = handle_of(handle);
  if (tokenizer == nullptr)
    return;
  tokenizer->decoded.clear();
  if (len != 0 && is_missing(data, "data is NULL; expected ids"))
    return;
  guarded(false, [&] {
    std::string error;
    const bool is_decoded =
        tokenizer->model->decode(data, len, skip_special_token != 0, tokenizer->decoded, error);
    if (!is_decoded)
      set_error(error.c_str());
    return is_decoded;
  });
}

void tokenizers_get_decode_str(TokenizerHandle handle, const char **data, size_t *len) {
  if (is_missing(data, "data is NULL; expected a pointer") ||
      is_missing(len, "len is NULL; expected a pointer"))
    return;
  const Handle *const tokenizer = handle_of(handle);
  *data = tokenizer != nullptr ? tokenizer->decoded.c_str() : "";
  *len = tokenizer != nullptr ? tokenizer->decoded.size() : 0;
}

void tokenizers_get_vocab_size(TokenizerHandle handle, size_t *size) {
  if (is_missing(size, "size is NULL; expected a pointer"))
    return;
  const Handle *const tokenizer = handle_of(handle);
  *size = tokenizer != nullptr ? tokenizer->model->size() : 0;
}

void tokenizers_id_to_token(TokenizerHandle handle, uint32_t id, const char **data,
                            size_t *len) {
  if (is_missing(data, "data is NULL; expected a pointer") ||
      is_missing(len, "len is NULL; expected a pointer"))
    return;
  *data = "";
  *len = 0;
  if (const Handle *const tokenizer = handle_of(handle)) {
    *data = tokenizer->model->text_of(id).c_str();
    *len = tokenizer->model->text_of(id).size();
  }
}

void tokenizers_token_to_id(TokenizerHandle handle, const char *token, size_t len,
                            int32_t *id) {
  if (is_missing(id, "id is NULL; expected a pointer"))
    return;
  *id = -1;
  const Handle *const tokenizer = handle_of(handle);
  if (tokenizer != nullptr)
    *id = guarded(-1, [&] { return tokenizer->model->id_of(std::string(view(token, len))); });
}

void tokenizers_free(TokenizerHandle handle) { delete static_cast<Handle *>(handle); }

const char *tokenizers_last_error(void) { return last_error; }
