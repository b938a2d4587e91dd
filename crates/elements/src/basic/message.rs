//! Says something when the configuration is read.
//!
//! ```click
//! Message(MESSAGE [, TYPE])
//! ```
//!
//! Prints MESSAGE, as a message, a warning or an error according to TYPE; after an error the router does not start.
//! MessageElement is another name for it.
//!
//! Ports: none. Workers: worker 0.
//!
//! # Arguments
//! - `MESSAGE` (string): what to say.
//! - `TYPE` (`MESSAGE`, `WARNING` or `ERROR`, default `MESSAGE`): how.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! Message("this configuration expects two interfaces")
//! ```
//!
//! # See also
//! Script

use router::{Class, Config, ConfigError, Cx, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("Message", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("message.rs"));

/// Another name.
pub(crate) const ELEMENT: Class = Class { name: "MessageElement", ..CLASS };

/// What is said once everything is configured.
struct Message(Option<String>);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut message, mut kind) = (String::new(), "MESSAGE".to_owned());
    config.args().required("MESSAGE", &mut message).positional("TYPE", &mut kind).finish()?;
    match kind.as_str() {
        "MESSAGE" => Ok(Box::new(Message(Some(message)))),
        "WARNING" => {
            config.warn(message);
            Ok(Box::new(Message(None)))
        }
        "ERROR" => Err(message.into()),
        _ => Err("unrecognized message type".into()),
    }
}

impl Element for Message {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(message) = self.0.take() {
            cx.log(&message);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    #[test]
    fn kinds() {
        assert_eq!(
            run("Message(\"hello, you\"); MessageElement(again); Script(stop)"),
            "hello, you\nagain\n"
        );
        assert_eq!(run("Message(careful, WARNING); Script(stop)"), "");
        assert!(errors("Message(\"stop here\", ERROR)").contains("stop here"));
        assert!(errors("Message(x, SHOUT)").contains("unrecognized message type"));
    }
}
