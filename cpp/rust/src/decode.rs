use crate::error::{call, Error};
use crate::ffi;
use crate::options::DecodeOptions;
use crate::streams::DecodeStream;
use crate::tokenizer::{view, Tokenizer};
use std::iter::once;
use std::os::raw::c_char;
use std::ptr;

/// Frees the bytes of a C function.
struct Bytes(*mut c_char);

impl Drop for Bytes {
    fn drop(&mut self) {
        // SAFETY: the pointer is null or from a function that returns bytes to free.
        unsafe { ffi::pretok_bytes_free(self.0) }
    }
}

/// # Decoding
impl Tokenizer {
    /// Decodes ids to a text. U+FFFD replaces invalid UTF-8.
    ///
    /// ```
    /// use pretok::{DecodeOptions, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::from_bytes(pretok::EXAMPLE)?;
    /// assert_eq!(tokenizer.decode(&[0, 6, 7, 4])?, "<s>hello");
    /// let options = DecodeOptions { skip_special: true, stop: &["lo"], ..Default::default() };
    /// assert_eq!(tokenizer.decode_with(&[0, 9, 5], &options)?, "hel");
    /// assert_eq!(tokenizer.decode_bytes(&[0, 9], true)?, b"hello"); // without special tokens
    /// let texts = tokenizer.decode_batch(&[&[9, 5][..], &[], &[6]], true, 0)?;
    /// assert_eq!(texts, [&b"hello "[..], b"", b"he"]);
    /// # Ok::<(), pretok::Error>(())
    /// ```
    pub fn decode(&self, ids: &[u32]) -> Result<String, Error> {
        self.decode_with(ids, &DecodeOptions::default())
    }

    /// Decodes ids to a text, with options. U+FFFD replaces invalid UTF-8.
    pub fn decode_with(&self, ids: &[u32], options: &DecodeOptions<'_>) -> Result<String, Error> {
        let mut stream = self.decode_stream(options)?;
        let mut text = stream.feed(ids)?.to_owned();
        text += &stream.finish()?;
        Ok(text)
    }

    /// Decodes ids to bytes, which may be invalid UTF-8. If `skip_special`, omits special tokens.
    pub fn decode_bytes(&self, ids: &[u32], skip_special: bool) -> Result<Vec<u8>, Error> {
        let mut texts = self.decode_batch(&[ids], skip_special, 1)?;
        Ok(texts.pop().unwrap_or_default())
    }

    /// Decodes several lists of ids to bytes on up to `threads` threads; 0 means one per
    /// processor. If `skip_special`, omits special tokens.
    pub fn decode_batch<T: AsRef<[u32]>>(
        &self,
        lists: &[T],
        skip_special: bool,
        threads: u32,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let ids: Vec<u32> = lists.iter().flat_map(|list| list.as_ref()).copied().collect();
        let ends = lists.iter().scan(0, |end, list| {
            *end += list.as_ref().len();
            Some(*end)
        });
        let offsets: Vec<usize> = once(0).chain(ends).collect();
        let mut byte_offsets = vec![0; offsets.len()];
        let mut bytes = Bytes(ptr::null_mut());
        // SAFETY: all lists are valid during the call; the offsets have one member more.
        call(|error| unsafe {
            ffi::pretok_decode_batch(
                self.handle,
                ids.as_ptr(),
                offsets.as_ptr(),
                lists.len(),
                skip_special,
                threads,
                &mut bytes.0,
                byte_offsets.as_mut_ptr(),
                error,
            )
        })?;
        // SAFETY: the array has the bytes of all texts until it is freed.
        let all: &[u8] = unsafe { view(bytes.0.cast(), byte_offsets[lists.len()]) };
        Ok(byte_offsets.windows(2).map(|ends| all[ends[0]..ends[1]].to_vec()).collect())
    }

    /// Makes a stream that decodes ids to text.
    pub fn decode_stream(&self, options: &DecodeOptions<'_>) -> Result<DecodeStream<'_>, Error> {
        DecodeStream::new(self.handle, options)
    }
}
