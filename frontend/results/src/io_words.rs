//! I/O errors in words.

use std::io;

/// Error without its number. Many kinds have no words, such as `Input/output error`.
pub fn io_words(error: &io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(number) => {
            let end = format!(" (os error {number})");
            text.strip_suffix(&end).unwrap_or(&text).to_owned()
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_system_is_named_without_its_number() {
        let of = |number| io_words(&io::Error::from_raw_os_error(number));
        assert_eq!(of(5), "Input/output error");
        assert_eq!(of(122), "Disk quota exceeded");
        assert_eq!(
            io_words(&io::Error::other("odd (os error 5)")),
            "odd (os error 5)"
        );
    }
}
