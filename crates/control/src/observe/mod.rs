//! What observers of packets are told, as JSON: drops, costs, explanations, traces, captures.
//!
//! The router knows bytes and elements ([`router::Observer`]); what headers say is read here.

mod describe;
mod fields;
mod framing;
mod lines;
mod question;

pub use describe::{costs, drops, way};
pub use fields::line as summary;
pub use lines::{captured, step};
pub use question::{Place, Question, edge};

/// What is wrong with a question, in a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(pub String);

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

impl From<String> for Wrong {
    fn from(message: String) -> Wrong {
        Wrong(message)
    }
}

impl From<&str> for Wrong {
    fn from(message: &str) -> Wrong {
        Wrong(message.to_owned())
    }
}
