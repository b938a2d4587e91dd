//! A classifier's arguments, of which each can be read and replaced by itself.

/// The arguments of a classifier, one a pattern: none where nothing is written.
pub fn split(text: &str) -> Vec<String> {
    let mut arguments = lang::conf::split_args(text);
    if arguments.len() == 1 && arguments[0].is_empty() {
        arguments.clear();
    }
    arguments
}

/// The arguments with a new one in the place of another.
///
/// # Errors
/// There is no such place.
pub fn replaced(arguments: &[String], place: usize, text: &str) -> Result<Vec<String>, String> {
    let mut arguments = arguments.to_vec();
    *arguments.get_mut(place).ok_or("missing mandatory arguments")? = text.trim().to_owned();
    Ok(arguments)
}
