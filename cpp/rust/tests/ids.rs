//! Ids against recorded ones, streams against whole texts, and threads.

use pretok::{DecodeOptions, EncodeOptions, ErrorKind, LoadOptions, Special, Tokenizer};
use std::fmt::Write;
use std::path::Path;

/// Returns a rank file of the 256 bytes and some merges.
fn rank_file() -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    tokens.extend(["he", "ll", "hell", "hello", " w", "é"].map(|text| text.as_bytes().to_vec()));
    let mut file = String::new();
    for (rank, token) in tokens.iter().enumerate() {
        for group in token.chunks(3) {
            let mut bits = 0;
            for at in 0..3 {
                bits = bits << 8 | u32::from(*group.get(at).unwrap_or(&0));
            }
            for at in 0..4 {
                let digit = DIGITS[(bits >> (18 - 6 * at)) as usize & 63];
                file.push(if at > group.len() { '=' } else { char::from(digit) });
            }
        }
        writeln!(file, " {rank}").unwrap();
    }
    file
}

fn small() -> Tokenizer {
    let options = LoadOptions {
        preset: Some("cl100k"),
        special_tokens: &[("<|end|>", 300)],
        ..LoadOptions::default()
    };
    Tokenizer::from_bytes_with(rank_file(), &options).unwrap()
}

#[test]
fn a_vocabulary_in_memory() {
    let tokenizer = small();
    assert_eq!(tokenizer.preset(), "cl100k");
    assert_eq!(tokenizer.vocab_size(), 301);
    assert_eq!(tokenizer.encode("hello hell\u{e9}").unwrap(), [259, 32, 258, 261]);
    assert_eq!(tokenizer.encode([0xFF, b'h', b'e']).unwrap(), [255, 256]);
    assert_eq!(tokenizer.decode(&[255, 256, 0xC3]).unwrap(), "\u{FFFD}he\u{FFFD}");
    assert_eq!(tokenizer.decode_bytes(&[255, 256], false).unwrap(), b"\xFFhe");
    assert_eq!(tokenizer.encode("").unwrap(), []);
    assert_eq!(tokenizer.encode("\0").unwrap(), [0]);
}

#[test]
fn dropout() {
    let options = LoadOptions { preset: Some("cl100k"), dropout: true, ..LoadOptions::default() };
    let tokenizer = Tokenizer::from_bytes_with(rank_file(), &options).unwrap();
    assert_eq!(tokenizer.dropout(), 0.0);
    let all = EncodeOptions { dropout: 1.0, ..EncodeOptions::default() };
    assert_eq!(tokenizer.encode_with("hello", &all).unwrap(), b"hello".map(u32::from));
    let text = "hello w\u{e9} ".repeat(50);
    let half = EncodeOptions { dropout: 0.5, seed: 7, ..EncodeOptions::default() };
    let ids = tokenizer.encode_with(&text, &half).unwrap();
    assert_eq!(tokenizer.decode(&ids).unwrap(), text);
    assert_eq!(tokenizer.encode_with(&text, &half).unwrap(), ids);
    assert_ne!(tokenizer.encode_with(&text, &EncodeOptions { seed: 8, ..half }).unwrap(), ids);
    let refused = tokenizer.encode_spans(&text, &half).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert_eq!(small().encode_with(&text, &half).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn long_texts() {
    let tokenizer = small();
    let text = "hello w\u{e9} ".repeat(5000);
    let ids = tokenizer.encode(&text).unwrap();
    assert_eq!(ids.len(), 20_000);
    assert_eq!(tokenizer.count(&text).unwrap(), ids.len());
    assert_eq!(tokenizer.decode(&ids).unwrap(), text);
    let options = EncodeOptions::default();
    let (same, spans) = tokenizer.encode_spans(&text, &options).unwrap();
    assert_eq!(same, ids);
    assert_eq!((spans[2].clone(), spans[19_999].clone()), (7..9, 49_999..50_000));
}

#[test]
fn special_tokens() {
    let tokenizer = small();
    let text = "he<|end|>";
    let with = |special| {
        let options = EncodeOptions { special, ..EncodeOptions::default() };
        tokenizer.encode_with(text, &options)
    };
    let error = with(Special::Raise).unwrap_err();
    assert_eq!((error.kind(), error.position()), (ErrorKind::SpecialToken, 2));
    assert_eq!(with(Special::Allow).unwrap(), [256, 300]);
    assert_eq!(with(Special::Only(&["<|end|>"])).unwrap(), [256, 300]);
    for special in [Special::Text, Special::Plain, Special::Only(&[])] {
        assert_eq!(with(special).unwrap().len(), 8);
    }
    assert_eq!(with(Special::Only(&["he"])).unwrap_err().kind(), ErrorKind::UnknownName);
    assert_eq!(tokenizer.decode_bytes(&[256, 300], true).unwrap(), b"he");
}

#[test]
fn streams_equal_whole_texts() {
    let tokenizer = small();
    let text = "hello h\u{e9}llo <|end|> w hello".repeat(20);
    let options = EncodeOptions { special: Special::Only(&["<|end|>"]), ..Default::default() };
    let ids = tokenizer.encode_with(&text, &options).unwrap();
    for size in [1, 3, 7, 1000] {
        let mut stream = tokenizer.encode_stream(&options).unwrap();
        let mut streamed = Vec::new();
        for chunk in text.as_bytes().chunks(size) {
            streamed.extend(stream.feed(chunk).unwrap());
        }
        streamed.extend(stream.finish().unwrap());
        assert_eq!(streamed, ids);

        let mut stream = tokenizer.decode_stream(&DecodeOptions::default()).unwrap();
        let mut decoded = String::new();
        for chunk in ids.chunks(size) {
            decoded += stream.feed(chunk).unwrap();
        }
        decoded += &stream.finish().unwrap();
        assert_eq!(decoded, text);
    }
}

#[test]
fn streams_rewind_and_stop() {
    let tokenizer = small();
    let options =
        DecodeOptions { skip_special: true, stop: &["he", "wel"], ..DecodeOptions::default() };
    let mut stream = tokenizer.decode_stream(&options).unwrap();
    assert_eq!(stream.feed(&[300, 119, 0xC3, 0xA9]).unwrap(), "w\u{e9}");
    assert_eq!((stream.id_count(), stream.stopped()), (4, None));
    assert_eq!(stream.rewind(1).unwrap(), 3); // "w" may begin a stop string again
    assert_eq!(stream.rewind(9).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let mut copy = stream.clone();
    assert_eq!(stream.feed(&[0xA8]).unwrap(), "w\u{e8}");
    assert_eq!(copy.feed(&[119, 101, 108]).unwrap(), "w\u{FFFD}");
    assert_eq!(copy.stopped(), Some(1));
    assert_eq!(copy.feed(&[1]).unwrap_err().kind(), ErrorKind::Finished);
    copy.reset().unwrap();
    assert_eq!((copy.id_count(), copy.stopped()), (0, None));
    assert_eq!(copy.feed(&[100]).unwrap(), "d");
    assert_eq!(stream.finish().unwrap() + &copy.finish().unwrap(), "");
    let clean = DecodeOptions { clean_up: true, continuation: true, ..DecodeOptions::default() };
    assert_eq!(tokenizer.decode_with(&[32, 97, 32, 46], &clean).unwrap(), " a.");
    let empty = DecodeOptions { stop: &[""], ..DecodeOptions::default() };
    assert_eq!(tokenizer.decode_stream(&empty).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn threads_share_a_tokenizer() {
    fn check<T: Send + Sync>(_: &T) {}
    let tokenizer = small();
    check(&tokenizer);
    let texts: Vec<String> = (0..500).map(|n| "hello w\u{e9} ".repeat(n % 40)).collect();
    let expected: Vec<_> = texts.iter().map(|text| tokenizer.encode(text).unwrap()).collect();
    for threads in [0, 1, 4] {
        let options = EncodeOptions::default();
        assert_eq!(tokenizer.encode_batch(&texts, &options, threads).unwrap(), expected);
        let decoded = tokenizer.decode_batch(&expected, false, threads).unwrap();
        assert!(decoded.iter().zip(&texts).all(|(bytes, text)| bytes == text.as_bytes()));
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (text, ids) in texts.iter().zip(&expected) {
                    assert_eq!(&tokenizer.encode(text).unwrap(), ids);
                }
            });
        }
    });
    let none: [&str; 0] = [];
    assert!(tokenizer.encode_batch(&none, &EncodeOptions::default(), 0).unwrap().is_empty());
    assert!(tokenizer.decode_batch::<Vec<u32>>(&[], true, 0).unwrap().is_empty());
}

#[test]
fn errors() {
    let kind = |data: &[u8]| Tokenizer::from_bytes(data).unwrap_err().kind();
    assert_eq!(kind(b""), ErrorKind::Malformed);
    assert_eq!(small().decode(&[1, 999]).unwrap_err().kind(), ErrorKind::UnknownId);
    assert_eq!(small().decode_bytes(&[999], true).unwrap_err().kind(), ErrorKind::UnknownId);
    assert_eq!(kind(b"\x1f\x8b"), ErrorKind::Unsupported);
    let error = Tokenizer::from_file("a\0b").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let options = LoadOptions { preset: Some("no such preset"), ..LoadOptions::default() };
    let error = Tokenizer::from_bytes_with(rank_file(), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownName);
    assert!(error.message().contains("no such preset"), "{error}");
    let _: Box<dyn std::error::Error + Send + Sync> = error.into();
}

/// In the repository, the ids of the example of C.
#[test]
fn recorded_ids() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    if !examples.exists() {
        eprintln!("skipped: {} is only in the repository", examples.display());
        return;
    }
    let options = LoadOptions { preset: Some("cl100k"), ..LoadOptions::default() };
    let tokenizer = Tokenizer::from_file_with(examples.join("tiny.tiktoken"), &options).unwrap();
    let text = std::fs::read_to_string(examples.join("hello.txt")).unwrap();
    let recorded = std::fs::read_to_string(examples.join("hello.ids")).unwrap();
    let recorded: Vec<u32> = recorded.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(tokenizer.encode(text).unwrap(), recorded);
}

#[test]
fn sessions() {
    let tokenizer = small();
    let mut session = tokenizer.session(&EncodeOptions::default()).unwrap();
    let mut ids: Vec<u32> = Vec::new();
    let mut seed = 1_u32;
    for step in 0..300 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let random = |limit: usize| (seed >> 8) as usize % limit;
        let text = ["hello", " w", "\u{e9}", "\n", "hell", "  "][random(6)];
        let size = session.text().len();
        let at = random(size + 1);
        let patch = match step % 5 {
            0 | 1 => session.append(text),
            2 => session.replace(at, (at + 3).min(size), text),
            3 => session.truncate(size - random(size.min(3) + 1)),
            _ => {
                let whole = [&session.text()[..at], text.as_bytes()].concat();
                session.update(whole)
            }
        }
        .unwrap();
        let (keep, tail, new) = (patch.keep, patch.tail, patch.ids.to_vec());
        ids.splice(keep..ids.len() - tail, new);
        assert_eq!(ids, session.ids());
        assert_eq!(ids, tokenizer.encode(session.text()).unwrap());
        assert!(session.stable() <= ids.len());
    }
    let spans = session.spans(0, ids.len()).unwrap();
    assert_eq!(spans.last().unwrap().end, session.text().len());
    let error = session.spans(1, ids.len() + 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(session.truncate(1_000_000).is_err());
}

#[test]
fn a_session_without_its_text() {
    let tokenizer = small();
    let mut whole = tokenizer.session(&EncodeOptions::default()).unwrap();
    let mut session = whole.fork().unwrap();
    session.drop_text();
    for step in 0..300 {
        let text = ["hello w", "\u{e9}\n hell", "o hello  w"][step % 3].repeat(1 + step % 40);
        let patch = whole.append(&text).unwrap();
        assert_eq!(session.append(&text).unwrap(), patch);
        assert_eq!(session.extend(&[256]).unwrap(), whole.extend(&[256]).unwrap());
    }
    assert_eq!(session.ids(), whole.ids());
    assert!(session.text().len() < 5000 && whole.text().ends_with(session.text()));
    assert!(session.update("").is_err() && session.truncate(0).is_err());
    assert!(session.fork().unwrap().replace(0, 0, "").is_err());
}

#[test]
fn treatments_in_a_session() {
    let tokenizer = small();
    let mut session = tokenizer.session(&EncodeOptions::default()).unwrap();
    session.append("he").unwrap();
    let error = session.append("hello<|end|>").unwrap_err();
    assert_eq!((error.kind(), error.position()), (ErrorKind::SpecialToken, 7));
    assert_eq!(session.text(), b"he");
    assert_eq!(session.peek("llo").unwrap().ids, [259]);
    session.extend(&[300, 256]).unwrap();
    let only = |session: &mut pretok::Session<'_>, texts: &[&str]| {
        session.set_special(Special::Only(texts)).unwrap();
    };
    only(&mut session, &["<|end|>"]);
    session.append("<|en").unwrap();
    let mut branch = session.fork().unwrap();
    only(&mut session, &["<|end|>", "<|end|>"]); // an equal set, so both texts are one
    session.append("d|>").unwrap();
    assert_eq!(session.ids(), [256, 300, 256, 300]);
    drop(session);
    branch.set_special(Special::Text).unwrap();
    branch.append("d|>").unwrap();
    assert_eq!(branch.ids()[..3], [256, 300, 256]);
    assert!(branch.ids().len() > 4);
    let options = EncodeOptions { add_special_tokens: true, ..EncodeOptions::default() };
    assert!(tokenizer.session(&options).is_err());
    fn is_send<T: Send>(_: &T) {}
    is_send(&branch);
}
