#include "compat/tokenizers_cpp/model.hpp"

#include "capi/load_tokenizer.hpp"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/utf8.hpp"
#include "core/unicode/whole_utf8.hpp"
#include "formats/json_readers.hpp"
#include "formats/read_spec.hpp"
#include "formats/sentencepiece.hpp"

#include <cstdio>
#include <utility>

namespace pretok {
namespace {

std::string replace_invalid(std::string_view text) {
  std::string result;
  if (append_whole_utf8(text, Invalid::ONE_MARK, result) != text.size())
    append_replacements(1, result);
  return result;
}

bool looks_like_json(std::string_view data) {
  const std::size_t first = data.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && data[first] == '{';
}

const char *problem_of_format(std::string_view data, Model::Format format) {
  if (format != Model::Format::SENTENCEPIECE && !looks_like_json(data))
    return "expected the JSON object of a tokenizer.json";
  if (format == Model::Format::SENTENCEPIECE && !is_sentencepiece(data))
    return "expected the bytes of a .model of SentencePiece";
  return nullptr;
}

} // namespace

std::unique_ptr<Model> Model::load(std::string_view data, Format format, std::string &error) {
  if (const char *const problem = problem_of_format(data, format)) {
    error = problem;
    return nullptr;
  }
  TokenizerSpec spec;
  LoadError load_error =
      read_spec(reinterpret_cast<const std::uint8_t *>(data.data()), data.size(), spec);
  if (!load_error && (!spec.truncation.empty() || !spec.padding.empty()))
    load_error = unsupported("the tokenizer.json truncates or pads texts; set its members "
                             "truncation and padding to null");
  if (!load_error && spec.facts.dropout != 0)
    load_error =
        unsupported("the tokenizer.json has a dropout, with which tokenizers makes ids "
                    "random; set its member model.dropout to null");
  if (load_error) {
    error = load_error.message;
    return nullptr;
  }
  if (format == Format::WHOLE)
    spec.stages = {whole_stage()};
  auto model = std::make_unique<Model>();
  model->format_ = format;
  model->list_texts(spec);
  pretok_load_options options{};
  options.struct_size = sizeof options;
  pretok_error c_error;
  if (load_tokenizer(std::move(spec), options, model->tokenizer_, &c_error) != PRETOK_OK) {
    error = c_error.message;
    return nullptr;
  }
  model->name_fallback_tokens();
  return model;
}

void Model::list_texts(const TokenizerSpec &spec) {
  const auto *bytes = reinterpret_cast<const char *>(spec.vocabulary.bytes.data());
  std::vector<std::pair<std::uint32_t, std::string>> tokens;
  for (std::size_t i = 0; i < spec.vocabulary.ids.size(); ++i) {
    const std::string_view token(bytes, spec.vocabulary.lengths[i]);
    bytes += token.size();
    if (spec.vocabulary.ids[i] < spec.vocabulary.first_step)
      tokens.emplace_back(spec.vocabulary.ids[i],
                          spec.text ? std::string(token) : byte_characters(token));
  }
  for (const AddedToken &token : spec.added)
    tokens.emplace_back(token.id, token.content);
  for (auto &[id, text] : tokens) {
    if (id >= texts_.size())
      texts_.resize(std::size_t{id} + 1);
    texts_[id] = text;
    ids_[std::move(text)] = id;
  }
  if (format_ == Format::SENTENCEPIECE) {
    const std::uint32_t id = spec.text ? spec.text->unknown_id : NO_ID;
    unknown_id_ = id == NO_ID ? -1 : static_cast<std::int32_t>(id);
  }
}

// A fallback token such as <0x0A> is one byte in the vocabulary.
void Model::name_fallback_tokens() {
  const Decoder &decoder = tokenizer_->core->decoder();
  for (std::uint32_t id = 0; id < texts_.size(); ++id) {
    size_ += has(id);
    const TokenView token = decoder.token(id);
    if (!has(id) || !decoder.is_fallback(id) || token.size != 1)
      continue;
    const auto listed = ids_.find(texts_[id]);
    if (listed != ids_.end() && listed->second == id)
      ids_.erase(listed);
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", token.bytes[0]);
    texts_[id] = name;
    ids_[name] = id;
  }
  // Names that a fallback token has hidden.
  for (std::uint32_t id = 0; id < texts_.size(); ++id)
    if (has(id))
      ids_.emplace(texts_[id], id);
}

pretok_encode_options Model::options(bool adds_special_tokens) const {
  pretok_encode_options options{};
  options.struct_size = sizeof options;
  options.special =
      format_ == Format::SENTENCEPIECE ? PRETOK_SPECIAL_TEXT : PRETOK_SPECIAL_ALLOW;
  options.add_special_tokens = adds_special_tokens;
  return options;
}

std::string_view Model::valid(std::string_view text, std::string &mended) const {
  if (text.data() == nullptr)
    return "";
  if (format_ == Format::SENTENCEPIECE || is_utf8(text))
    return text;
  mended = replace_invalid(text);
  return mended;
}

bool Model::encode(std::string_view text, bool adds_special_tokens, std::uint32_t *&ids,
                   std::size_t &count, std::string &error) const {
  std::string mended;
  text = valid(text, mended);
  const pretok_encode_options call = options(adds_special_tokens);
  pretok_error c_error;
  if (pretok_encode_new(tokenizer_.get(), text.data(), text.size(), &call, &ids, &count,
                        &c_error) == PRETOK_OK)
    return true;
  error = c_error.message;
  return false;
}

bool Model::encode_batch(const std::vector<std::string_view> &texts, bool adds_special_tokens,
                         std::uint32_t *&ids, std::vector<std::size_t> &ends,
                         std::string &error) const {
  std::vector<std::string> mended(texts.size());
  std::vector<const char *> data;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string_view text = valid(texts[i], mended[i]);
    data.push_back(text.data());
    sizes.push_back(text.size());
  }
  ends.resize(texts.size());
  const pretok_encode_options call = options(adds_special_tokens);
  pretok_error c_error;
  if (pretok_encode_batch_new(tokenizer_.get(), data.data(), sizes.data(), texts.size(), &call,
                              0, &ids, ends.data(), nullptr, &c_error) == PRETOK_OK)
    return true;
  error = c_error.message;
  return false;
}

bool Model::decode(const std::uint32_t *ids, std::size_t count, bool skips_special,
                   std::string &text, std::string &error) const {
  text.clear();
  std::vector<std::uint32_t> known;
  known.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    if (has(ids[i]))
      known.push_back(ids[i]);
    else if (format_ == Format::SENTENCEPIECE)
      return true;
  pretok_error c_error;
  pretok_decode_stream *stream = nullptr;
  const char *part = nullptr;
  std::size_t size = 0;
  pretok_status status =
      pretok_decode_stream_new(tokenizer_.get(), skips_special, &stream, &c_error);
  if (status == PRETOK_OK)
    status =
        pretok_decode_stream_feed(stream, known.data(), known.size(), &part, &size, &c_error);
  if (status == PRETOK_OK) {
    text.assign(part, size);
    status = pretok_decode_stream_finish(stream, &part, &size, &c_error);
  }
  if (status == PRETOK_OK)
    text.append(part, size);
  else
    error = c_error.message;
  pretok_decode_stream_free(stream);
  return status == PRETOK_OK;
}

const std::string &Model::text_of(std::uint32_t id) const {
  static const std::string none;
  return id < texts_.size() && has(id) ? texts_[id] : none;
}

std::int32_t Model::id_of(const std::string &text) const {
  const auto listed = ids_.find(text);
  return listed != ids_.end() ? static_cast<std::int32_t>(listed->second) : unknown_id_;
}

} // namespace pretok
