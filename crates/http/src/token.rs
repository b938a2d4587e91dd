//! What a writer must know.

use std::path::Path;

/// What a writer must know. It is read from a file, and never shown.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// The first line of a file.
    ///
    /// # Errors
    /// The file cannot be read, or the line has fewer than 16 characters or one that no header may have.
    pub fn read(file: &Path) -> Result<Token, String> {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let line = text.lines().next().unwrap_or_default().trim();
        if line.len() < 16 || !line.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!(
                "{}: a token has 16 printable characters or more and no spaces",
                file.display()
            ));
        }
        Ok(Token(line.to_owned()))
    }

    /// Compares without telling by the time it takes how much is right.
    pub(crate) fn is(&self, given: &str) -> bool {
        let differ = self.0.bytes().zip(given.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
        self.0.len() == given.len() && std::hint::black_box(differ) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_compared_whole() {
        let token = Token("0123456789abcdef".to_owned());
        assert!(token.is("0123456789abcdef"));
        for wrong in ["", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeg"] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "Token");
    }

    #[test]
    fn tokens_have_a_least_length() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        for (text, good) in
            [("0123456789abcdef\n", true), ("short\n", false), ("", false), ("0123456789 abcdef", false)]
        {
            std::fs::write(&file, text).unwrap();
            assert_eq!(Token::read(&file).is_ok(), good, "{text}");
        }
    }
}
