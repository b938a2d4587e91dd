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
    /// Those of them that are true of the arguments alone, whatever other elements there are.
    pub(crate) sure: Vec<String>,
    /// What scripts see in `$?` if it was a write that failed for that.
    pub(crate) status: i64,
}

impl From<String> for ConfigError {
    fn from(message: String) -> Self {
        ConfigError { messages: vec![message], sure: Vec::new(), status: EINVAL }
    }
}

/// What is found as far as possible before it is refused: arguments, and whatever else comes in numbers.
impl From<Vec<String>> for ConfigError {
    fn from(messages: Vec<String>) -> Self {
        ConfigError { messages, sure: Vec::new(), status: REFUSED }
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

/// Why a call of a handler failed, as far as programs decide on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerErrorKind {
    /// The router has stopped, and the call was not made.
    Stopped,
    /// There is no such element or handler.
    NotFound,
    /// The handler was called and said no.
    Refused,
    /// The call has not the form that the handler takes; the handler was not called.
    Invalid,
}

/// Why a call of a handler failed: a kind for programs, and a message for the user.
///
/// A sentence alone becomes one of the kind [`HandlerErrorKind::Refused`]: that is what elements say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerError {
    /// What it is, for programs.
    pub kind: HandlerErrorKind,
    /// What it is, for the user.
    pub message: String,
}

impl HandlerError {
    /// An error of a kind.
    pub fn new(kind: HandlerErrorKind, message: impl Into<String>) -> HandlerError {
        HandlerError { kind, message: message.into() }
    }

    /// There is no such element or handler.
    pub(crate) fn not_found(message: impl Into<String>) -> HandlerError {
        HandlerError::new(HandlerErrorKind::NotFound, message)
    }

    /// The call has not the form that the handler takes.
    pub(crate) fn invalid(message: impl Into<String>) -> HandlerError {
        HandlerError::new(HandlerErrorKind::Invalid, message)
    }

    /// The router has stopped.
    pub fn stopped() -> HandlerError {
        HandlerError::new(HandlerErrorKind::Stopped, "the router has stopped")
    }
}

impl From<String> for HandlerError {
    fn from(message: String) -> HandlerError {
        HandlerError::new(HandlerErrorKind::Refused, message)
    }
}

impl From<&str> for HandlerError {
    fn from(message: &str) -> HandlerError {
        message.to_owned().into()
    }
}

/// The message alone, for those who only pass it on.
impl From<HandlerError> for String {
    fn from(error: HandlerError) -> String {
        error.message
    }
}

/// An element cannot be configured for it.
impl From<HandlerError> for ConfigError {
    fn from(error: HandlerError) -> ConfigError {
        error.message.into()
    }
}

impl std::fmt::Display for HandlerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HandlerError {}
