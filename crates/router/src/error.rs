//! Why something is refused: sentences for the user, and what programs need to know beside them.

/// The status of what Click refuses with one message.
pub(crate) const EINVAL: i64 = -22;
/// The status of what Click refuses after it has looked at all arguments.
pub(crate) const REFUSED: i64 = -1;

/// Why an element cannot be configured or initialised: one sentence or several, for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigError {
    /// The sentences, without place: the caller knows it.
    pub messages: Vec<String>,
    /// What scripts see in `$?` if it was a write that failed for that.
    pub(crate) status: i64,
}

impl From<String> for ConfigError {
    fn from(message: String) -> Self {
        ConfigError { messages: vec![message], status: EINVAL }
    }
}

/// What is found as far as possible before it is refused: arguments, and whatever else comes in numbers.
impl From<Vec<String>> for ConfigError {
    fn from(messages: Vec<String>) -> Self {
        ConfigError { messages, status: REFUSED }
    }
}

impl From<&str> for ConfigError {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.messages.join("\n"))
    }
}

impl std::error::Error for ConfigError {}
