// Fuzzes the reader of tokenizer.json files. Each file must give an error or a tokenizer that
// works.
#include "core/unicode/byte_level.hpp"
#include "fuzz/files.hpp"

namespace {

using namespace pretok;

// Returns the text that the next byte of the input chooses.
template <std::size_t SIZE> const char *one_of(Input &input, const char *const (&texts)[SIZE]) {
  return texts[input.below(SIZE)];
}

// Returns a member of a JSON object, with a comma after it.
std::string member(const char *name, const std::string &value) {
  return '"' + std::string(name) + "\":" + value + ',';
}

std::string any_value(Input &input) {
  static const char *const VALUES[] = {"null",
                                       "true",
                                       "{}",
                                       "[]",
                                       "0",
                                       "-1",
                                       "1e3",
                                       "16777216",
                                       "\"\"",
                                       "\"A\"",
                                       "[0]",
                                       "[[\"a\"]]",
                                       "{\"type\":\"Sequence\"}",
                                       "\"\\ud83d\"",
                                       "0.5"};
  return one_of(input, VALUES);
}

// Returns a Sequence of three `parts`, repeated up to `count`, in the member `name`.
template <std::size_t SIZE>
std::string chain(Input &input, const char *name, const char *const (&parts)[SIZE]) {
  const std::size_t count = input.chain_length();
  const char *chosen[3] = {};
  std::string list;
  for (std::size_t i = 0; i < count; ++i) {
    if (i < 3)
      chosen[i] = one_of(input, parts);
    list += (list.empty() ? "" : ",") + std::string(chosen[i % 3]);
  }
  return R"({"type":"Sequence",")" + std::string(name) + "\":[" + list + "]}";
}

std::string normalizer(Input &input) {
  static const char *const VALUES[] = {
      "null",
      R"({"type":"NFC"})",
      R"({"type":"Sequence","normalizers":[{"type":"NFC"},null]})",
      R"({"type":"NFKC"})",
      R"({"type":"Sequence","normalizers":[]})",
      R"({"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"\u2581"},
{"type":"Replace","pattern":{"String":" "},"content":"\u2581"}]})",
      R"({"type":"Sequence","normalizers":[{"type":"Strip","strip_left":true,"strip_right":false},
{"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "},{"type":"Lowercase"}]})",
      R"({"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,
"strip_accents":null,"lowercase":true})",
      R"({"type":"Precompiled","precompiled_charsmap":"AAQAAAAA"})",
      R"({"type":"Sequence","normalizers":[{"type":"NFKD"},{"type":"StripAccents"},{"type":"Nmt"},
{"type":"ByteLevel"}]})",
      R"({"type":"Prepend","prepend":"a"})",
      R"({"type":"Replace","pattern":{"String":"a"},"content":"aa"})",
      R"({"type":"Replace","pattern":{"String":"ab"},"content":"a \u4e2d\ufdfa"})"};
  const std::uint8_t choice = input.byte();
  return choice < 0xC0 ? VALUES[choice % std::size(VALUES)]
                       : chain(input, "normalizers", VALUES);
}

// Returns 1 to 3 nested Sequences around up to 300 pre-tokenizers. Some of these pre-tokenizers
// occur in published files; the rest are unusual or invalid.
std::string sequence(Input &input) {
  static const char *const PARTS[] = {
      R"({"type":"Split","pattern":{"Regex":"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},"behavior":"Isolated","invert":false})",
      R"({"invert":true,"behavior":"Removed","pattern":{"Regex":"\\p{N}{1,3}"},"type":"Split"})",
      R"({"type":"Digits","individual_digits":true})",
      R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false})",
      R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true})",
      R"({"type":"Sequence","pretokenizers":[]})",
      "null",
      R"({"type":"FixedLength","length":-3,"other":[[{"a":[1.5,"b"]}]]})"};
  std::string list;
  const std::size_t repeats = input.below(64) == 63 ? 60 : 1;
  for (std::size_t left = input.below(6); left != 0; --left) {
    const std::string part = one_of(input, PARTS);
    for (std::size_t i = 0; i < repeats; ++i)
      list += (list.empty() ? "" : ",") + part;
  }
  for (std::size_t depth = 1 + input.below(3); depth != 0; --depth)
    list = R"({"type":"Sequence","pretokenizers":[)" + list + "]}";
  return list;
}

std::string pre_tokenizer(Input &input) {
  static const char *const VALUES[] = {
      "null",
      R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true})",
      R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false})",
      R"({"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},
{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}]})",
      R"({"type":"Split","pattern":{"Regex":"a+"},"behavior":"Isolated","invert":false})",
      R"({"type":"Sequence","pretokenizers":[{"type":"Sequence","pretokenizers":[]}]})",
      R"({"type":"Metaspace","replacement":"\u2581","prepend_scheme":"always","split":true})",
      R"({"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Metaspace",
"replacement":"_","prepend_scheme":"first","split":false},{"type":"Punctuation"}]})",
      R"({"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious","invert":false})"};
  const std::uint8_t choice = input.byte();
  return choice >= 0x80 ? sequence(input) : VALUES[choice % (sizeof VALUES / sizeof *VALUES)];
}

// Returns a TemplateProcessing whose entries name one special token with many ids, or a
// Sequence of such parts, perhaps of Sequences. Its ids multiply.
std::string some_template(Input &input, int depth) {
  const auto repeated = [](const std::string &item, std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i)
      list += (i == 0 ? "" : ",") + item;
    return list;
  };
  if (depth < 3 && input.below(3) == 0) {
    const std::size_t count = input.below(9);
    return R"({"type":"Sequence","processors":[)" +
           repeated(some_template(input, depth + 1), count) + "]}";
  }
  if (input.below(4) == 0)
    return R"({"type":"BertProcessing","sep":["<e>",258],"cls":["<s>",259]})";
  const std::string entry = R"({"SpecialToken":{"id":"<e>","type_id":0}})";
  const std::string before = repeated(entry, input.byte());
  const std::string after = repeated(entry, input.byte());
  return R"({"type":"TemplateProcessing","single":[)" + before + (before.empty() ? "" : ",") +
         R"({"Sequence":{"id":"A","type_id":0}})" + (after.empty() ? "" : ",") + after +
         R"(],"pair":[],"special_tokens":{"<e>":{"id":"<e>","ids":[)" +
         repeated("258", input.byte()) + R"(],"tokens":[]}}})";
}

std::string post_processor(Input &input) {
  static const char *const VALUES[] = {
      "null", R"({"type":"ByteLevel"})",
      R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<e>","type_id":0}},
{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"<e>":{"id":"<e>",
"ids":[258],"tokens":["<e>"]}}})",
      R"({"type":"RobertaProcessing","sep":["<e>",258],"cls":["<s>",259]})",
      R"({"type":"Sequence","processors":[{"type":"BertProcessing","sep":["<e>",258],
"cls":["<s>",16777216]},{"type":"ByteLevel"}]})"};
  const std::uint8_t choice = input.byte();
  return choice >= 0xC0 ? some_template(input, 0)
                        : VALUES[choice % (sizeof VALUES / sizeof *VALUES)];
}

std::string added_tokens(Input &input) {
  static const char *const CONTENTS[] = {"<e>", "<s>", "", "ab", "\\u0000", "\\ud800"};
  std::string list = "[";
  std::size_t left = input.below(4);
  for (std::size_t id = 257 + input.below(3); left != 0; --left) {
    const std::uint8_t flags = input.byte();
    const auto flag = [&](unsigned bit) { return (flags >> bit & 1) != 0 ? "true" : "false"; };
    list += '{' + member("content", '"' + std::string(one_of(input, CONTENTS)) + '"') +
            member("single_word", flag(0)) + member("lstrip", flag(1)) +
            member("rstrip", flag(2)) + member("normalized", flag(3)) +
            member("special", flag(4)) + "\"id\":" + std::to_string(id++) + '}' +
            (left != 1 ? "," : "");
  }
  return list + ']';
}

// Returns a model with the 256 byte tokens, "ab" and "abc", and perhaps another token, whose id
// may be a duplicate.
std::string model(Input &input) {
  static const std::string BYTE_TOKENS = [] {
    std::string members;
    for (int byte = 0; byte < 256; ++byte) {
      const std::string text = byte_characters(std::string(1, static_cast<char>(byte)));
      const bool is_escaped = text == "\"" || text == "\\";
      members += member(((is_escaped ? "\\" : "") + text).c_str(), std::to_string(byte));
    }
    return members;
  }();
  static const char *const EXTRA_TOKENS[] = {
      "", R"(,"abd":258)", R"(,"abd":5000)", R"(,"<e>":258)", R"(,"ab":258)", R"(,"b c":9)"};
  static const char *const MERGES[] = {R"(["a b",["ab","c"]])", "[]",         R"(["a  b"])",
                                       R"([["a","b","c"]])",    R"(["b c"])", R"(["a b",""])"};
  std::string json = "{\"type\":\"BPE\",";
  if (input.coin())
    json += member("ignore_merges", input.coin() ? "true" : "false");
  if (input.coin())
    json += member("dropout", any_value(input));
  if (input.coin())
    json += member("unk_token", any_value(input));
  const std::uint8_t options = input.byte();
  if ((options & 1) != 0)
    json += member("continuing_subword_prefix", (options & 2) != 0 ? "\"#\"" : "\"\"");
  if ((options & 4) != 0)
    json += member("end_of_word_suffix", "\"b\"");
  if ((options & 8) != 0)
    json += member("byte_fallback", "true") + member("fuse_unk", "true");
  return json + "\"vocab\":{" + BYTE_TOKENS + R"("ab":256,"abc":257)" +
         one_of(input, EXTRA_TOKENS) + "},\"merges\":" + one_of(input, MERGES) + '}';
}

std::string some_file(Input &input) {
  const std::uint8_t choice = input.byte();
  std::string file = "{";
  const auto add = [&](unsigned bit, const char *name, std::string (*make)(Input &)) {
    if ((choice >> bit & 1) != 0)
      file += member(name, input.below(16) == 15 ? any_value(input) : make(input));
  };
  add(0, "normalizer", normalizer);
  add(1, "pre_tokenizer", pre_tokenizer);
  add(2, "post_processor", post_processor);
  add(3, "added_tokens", added_tokens);
  add(4, "truncation", any_value);
  add(5, "decoder", [](Input &choices) {
    static const char *const DECODERS[] = {
        R"({"type":"ByteLevel"})",
        R"({"type":"Sequence","decoders":[{"type":"Fuse"}]})",
        R"({"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Fuse"},
{"type":"Strip","content":" ","start":1,"stop":0}]})",
        R"({"type":"Metaspace","replacement":"\u2581","prepend_scheme":"first","split":true})",
        R"({"type":"BPEDecoder","suffix":"</w>"})",
        R"({"type":"WordPiece","prefix":"a","cleanup":true})",
        R"({"type":"CTC","pad_token":"a","word_delimiter_token":"","cleanup":true})",
        R"({"type":"Replace","pattern":{"String":"a"},"content":"b"})",
        R"({"type":"Replace","pattern":{"String":"b"},"content":"b\u00e9"})",
        "null"};
    const std::uint8_t part = choices.byte();
    return part < 0xC0 ? std::string(DECODERS[part % std::size(DECODERS)])
                       : chain(choices, "decoders", DECODERS);
  });
  add(6, "unknown", any_value);
  return file + "\"model\":" + model(input) + '}';
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  std::string file;
  if (input.below(4) == 3) {
    const std::vector<std::uint8_t> rest = input.rest();
    file = '{' + std::string(rest.begin(), rest.end());
  } else {
    file = some_file(input);
    damage(input, file, 0);
  }
  check_file(file, input);
  return 0;
}
