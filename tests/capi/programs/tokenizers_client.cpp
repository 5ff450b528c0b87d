// A program for the interface of tokenizers-cpp. Loads a tokenizer from blobs, encodes and
// decodes the texts of standard input, and maps ids to tokens and back, as its published
// example does.
//
//     tokenizers_client json|spm|bpe|rwkv FILE... < texts in hexadecimal, one per line
#include <tokenizers_c.h>
#include <tokenizers_cpp.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

using tokenizers::Tokenizer;

namespace {

std::string LoadBytesFromFile(const std::string &path) {
  std::ifstream file(path, std::ios::in | std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::unique_ptr<Tokenizer> Load(const std::string &kind,
                                const std::vector<std::string> &blobs) {
  if (kind == "json")
    return Tokenizer::FromBlobJSON(blobs.at(0));
  if (kind == "spm")
    return Tokenizer::FromBlobSentencePiece(blobs.at(0));
  if (kind == "rwkv")
    return Tokenizer::FromBlobRWKVWorld(blobs.at(0));
  return blobs.size() == 2
             ? Tokenizer::FromBlobByteLevelBPE(blobs.at(0), blobs.at(1))
             : Tokenizer::FromBlobByteLevelBPE(blobs.at(0), blobs.at(1), blobs.at(2));
}

void PrintHex(const std::string &text) {
  for (const char each : text)
    std::printf("%02x", static_cast<unsigned char>(each));
}

void PrintIds(const char *name, const int *ids, size_t count) {
  std::printf("%s", name);
  for (size_t i = 0; i < count; ++i)
    std::printf(" %d", ids[i]);
  std::printf("\n");
}

// The C functions, for a tokenizer.json.
void UseHandle(const std::string &json, const std::vector<std::string> &texts) {
  TokenizerHandle handle = tokenizers_new_from_str(json.data(), json.size());
  std::vector<const char *> data;
  std::vector<size_t> sizes;
  for (const std::string &text : texts) {
    data.push_back(text.data());
    sizes.push_back(text.size());
  }
  std::vector<TokenizerEncodeResult> results(texts.size());
  tokenizers_encode_batch(handle, data.data(), sizes.data(), texts.size(), 1, results.data());
  for (const TokenizerEncodeResult &result : results) {
    PrintIds("special", result.token_ids, result.len);
    const std::vector<uint32_t> ids(result.token_ids, result.token_ids + result.len);
    tokenizers_decode(handle, ids.data(), ids.size(), 1);
    const char *text = nullptr;
    size_t size = 0;
    tokenizers_get_decode_str(handle, &text, &size);
    std::printf("skipped ");
    PrintHex(std::string(text, size));
    std::printf("\n");
  }
  tokenizers_free_encode_results(results.data(), results.size());
  tokenizers_free(handle);
}

// Arguments that no caller should give. Every call returns.
int UseHostileArguments() {
  TokenizerEncodeResult result = {nullptr, 7};
  tokenizers_encode(nullptr, "text", 4, 0, &result);
  if (result.len != 0 || std::string(tokenizers_last_error()).empty())
    return 1;
  tokenizers_encode(nullptr, nullptr, 4, 0, nullptr);
  tokenizers_encode_batch(nullptr, nullptr, nullptr, 1, 0, &result);
  tokenizers_free_encode_results(&result, 1);
  tokenizers_free_encode_results(nullptr, 3);
  tokenizers_decode(nullptr, nullptr, 3, 0);
  const char *text = nullptr;
  size_t size = 1;
  tokenizers_get_decode_str(nullptr, &text, &size);
  if (text == nullptr || size != 0)
    return 2;
  tokenizers_get_vocab_size(nullptr, &size);
  tokenizers_id_to_token(nullptr, 0, &text, &size);
  int32_t id = 0;
  tokenizers_token_to_id(nullptr, nullptr, 0, &id);
  tokenizers_free(nullptr);
  const std::string bad[] = {"", "{", "[]", "{\"model\":{}}", std::string("{\0}", 3), "\xff"};
  for (const std::string &json : bad)
    if (tokenizers_new_from_str(json.data(), json.size()) != nullptr)
      return 3;
  for (const std::string &json : bad)
    if (byte_level_bpe_tokenizers_new_from_str(json.data(), json.size(), "a b", 3, nullptr, 0))
      return 4;
  const std::string vocabulary = R"({"a":0,"b":1,"ab":2})";
  const std::string lines[] = {"a", "a  b", "a b c", "a b\n\n", "b a", "\xff a"};
  for (const std::string &merges : lines)
    if (byte_level_bpe_tokenizers_new_from_str(vocabulary.data(), vocabulary.size(),
                                               merges.data(), merges.size(), nullptr,
                                               0) != nullptr)
      return 5;
  // A number that is no id is no reason to drop the token.
  for (const std::string number : {"-1", "1.0", "1e0", "1000000000", "12345678901234567890"}) {
    const std::string tokens = R"({"a":0,"b":)" + number + "}";
    if (byte_level_bpe_tokenizers_new_from_str(tokens.data(), tokens.size(), "", 0, nullptr, 0))
      return 7;
    if (byte_level_bpe_tokenizers_new_from_str(vocabulary.data(), vocabulary.size(), "a b", 3,
                                               tokens.data(), tokens.size()))
      return 8;
  }
  return id == -1 ? 0 : 6;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return UseHostileArguments();
  const std::string kind = argv[1];
  std::vector<std::string> blobs;
  for (int i = 2; i < argc; ++i)
    blobs.push_back(LoadBytesFromFile(argv[i]));
  std::vector<std::string> texts;
  for (std::string line; std::getline(std::cin, line);) {
    std::string text;
    for (size_t at = 0; at + 1 < line.size(); at += 2)
      text += static_cast<char>(std::stoi(line.substr(at, 2), nullptr, 16));
    texts.push_back(text);
  }
  try {
    const std::unique_ptr<Tokenizer> tok = Load(kind, blobs);
    const std::vector<std::vector<int>> batch = tok->EncodeBatch(texts);
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::vector<int> ids = tok->Encode(texts[i]);
      if (ids != batch[i])
        return 7;
      PrintIds("ids", ids.data(), ids.size());
      std::printf("text ");
      PrintHex(tok->Decode(ids));
      std::printf("\n");
    }
    std::printf("size %zu\n", tok->GetVocabSize());
    for (const int id : {0, 1, 2, 3, 32, 33, 34, 130, 131, 1000, -1, 1 << 30}) {
      const std::string token = tok->IdToToken(id);
      std::printf("token %d %d ", id, tok->TokenToId(token));
      PrintHex(token);
      std::printf("\n");
    }
    std::printf("none %d\n", tok->TokenToId("no such token"));
    std::printf("unknown ");
    PrintHex(tok->Decode({1 << 30, 70, -1, 71}));
    std::printf("\n");
  } catch (const std::exception &error) {
    std::printf("error %s\n", error.what());
    return 0;
  }
  if (kind == "json")
    UseHandle(blobs.at(0), texts);
  return 0;
}
