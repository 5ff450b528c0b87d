//! What samplers ask, of a GGUF file in memory.

use pretok::{LoadOptions, ModelKind, Role, TokenType, Tokenizer};

const TOKENS: [(&str, i32); 9] = [
    ("a", 1),
    ("b", 1),
    ("\u{120}", 1), // a space
    ("ab", 1),
    ("<s>", 3),
    ("<|im_end|>", 3),
    ("<user>", 4),
    ("<|fim_prefix|>", 3),
    ("", 5),
];
const STRING: u32 = 8;
const ARRAY: u32 = 9;

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

fn entry(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&text(&format!("tokenizer.{key}"))[..], &kind.to_le_bytes(), value].concat()
}

fn array(kind: u32, elements: &[Vec<u8>]) -> Vec<u8> {
    let count = (elements.len() as u64).to_le_bytes();
    [&kind.to_le_bytes()[..], &count, &elements.concat()].concat()
}

fn gguf(with_split: bool) -> Vec<u8> {
    let tokens = TOKENS.map(|(token, _)| text(token));
    let types = TOKENS.map(|(_, number)| number.to_le_bytes().to_vec());
    let mut entries = vec![
        entry("ggml.model", STRING, &text("gpt2")),
        entry("ggml.tokens", ARRAY, &array(STRING, &tokens)),
        entry("ggml.token_type", ARRAY, &array(5, &types)),
        entry("ggml.merges", ARRAY, &array(STRING, &[text("a b")])),
        entry("ggml.bos_token_id", 4, &4_u32.to_le_bytes()),
        entry("ggml.add_bos_token", 7, &[1]),
        entry("chat_template", STRING, &text("{{ messages }}")),
    ];
    if with_split {
        entries.push(entry("ggml.pre", STRING, &text("gpt-2")));
    }
    let counts = [0, entries.len() as u64].map(u64::to_le_bytes).concat();
    [b"GGUF".to_vec(), 3_u32.to_le_bytes().to_vec(), counts, entries.concat()].concat()
}

#[test]
fn facts_of_a_file() {
    let tokenizer = Tokenizer::from_bytes(gguf(true)).unwrap();
    assert_eq!(tokenizer.kind(), ModelKind::Text);
    let facts = tokenizer.facts().unwrap();
    assert_eq!((facts.add_bos, facts.add_eos), (true, false));
    assert_eq!(facts.chat_template, Some("{{ messages }}"));
    assert_eq!(facts.end_ids, [5]);
    let ids = [Role::Bos, Role::Eos, Role::Eot, Role::FimPrefix].map(|role| facts.role(role));
    assert_eq!(ids, [Some(4), None, Some(5), Some(7)]);
    assert_eq!(facts.max_token_bytes, "<|fim_prefix|>".len());
}

#[test]
fn tokens_of_a_file() {
    let tokenizer = Tokenizer::from_bytes(gguf(true)).unwrap();
    let types = [4, 6, 3].map(|id| tokenizer.token_type(id).unwrap());
    assert_eq!(types, [TokenType::Control, TokenType::UserDefined, TokenType::Normal]);
    assert_eq!(tokenizer.rendered_bytes(2).unwrap(), b" ");
    assert!(tokenizer.score(3).unwrap() <= 0.0);
    for id in [8, 9] {
        let kind = pretok::ErrorKind::UnknownId;
        assert_eq!(tokenizer.token_type(id).unwrap_err().kind(), kind);
        assert_eq!(tokenizer.rendered_bytes(id).unwrap_err().kind(), kind);
        assert_eq!(tokenizer.score(id).unwrap_err().kind(), kind);
    }
    let all = tokenizer.vocabulary().unwrap();
    assert_eq!(all.len(), tokenizer.vocab_size());
    assert_eq!(all.sorted, [2, 4, 6, 7, 5, 0, 3, 1]);
    for id in all.sorted {
        assert_eq!(all.token(*id), tokenizer.rendered_bytes(*id).unwrap());
        assert_eq!(all.token_type(*id), tokenizer.token_type(*id).unwrap());
    }
}

#[test]
fn a_file_that_names_no_split() {
    assert!(Tokenizer::from_bytes(gguf(false)).is_err());
    let options = LoadOptions { default_preset: Some("default"), ..LoadOptions::default() };
    let tokenizer = Tokenizer::from_bytes_with(gguf(false), &options).unwrap();
    assert_eq!(tokenizer.preset(), "default");
    assert_eq!(tokenizer.encode("ab a").unwrap(), [3, 2, 0]);
}
