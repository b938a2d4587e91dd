//! The prompt of a build without the feature `editor`: plain lines.

use super::{Session, shell};
use std::io::{BufRead, Write};

/// Carries out lines that a person types, until they end.
///
/// # Errors
/// Of the terminal.
pub(super) fn run(session: &mut Session, prompt: &str) -> Result<(), String> {
    let mut lines = std::io::stdin().lock().lines();
    loop {
        let mut output = std::io::stdout();
        write!(output, "{prompt}").and_then(|()| output.flush()).map_err(|error| error.to_string())?;
        let Some(line) = lines.next() else { return Ok(()) };
        if !shell::serve(session, &line.map_err(|error| error.to_string())?) {
            return Ok(());
        }
    }
}
