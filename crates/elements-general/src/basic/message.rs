//! Prints a message when the configuration is read.
//!
//! ```click
//! Message(MESSAGE [, TYPE])
//! ```
//!
//! Prints MESSAGE as a message, a warning or an error, according to TYPE, after a line that names the element. After
//! an error the router does not start. MessageElement is another name for it.
//!
//! Ports: none. Workers: worker 0.
//!
//! # Arguments
//! - `MESSAGE` (string): what to print.
//! - `TYPE` (`MESSAGE`, `WARNING` or `ERROR`, default `MESSAGE`): the severity.
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

use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("Message", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("message.rs"));

struct Message;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut message, mut kind) = (String::new(), "MESSAGE".to_owned());
    config.args().required("MESSAGE", &mut message).positional("TYPE", &mut kind).finish()?;
    match kind.as_str() {
        "MESSAGE" => config.say(message),
        "WARNING" => config.warn(message),
        "ERROR" => return Err(message.into()),
        _ => return Err("unrecognized message type".into()),
    }
    Ok(Box::new(Message))
}

impl Element for Message {}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    #[test]
    fn an_error_refuses_the_configuration_and_a_message_does_not() {
        assert_eq!(
            run("Message(\"hello,\nyou\"); m :: MessageElement(again); Script(stop)"),
            "config:1: While configuring 'Message@1 :: Message':\n  hello,\n  you\n\
             config:2: While configuring 'm :: MessageElement':\n  again\n"
        );
        assert_eq!(run("Message(careful, WARNING); Script(stop)"), "");
        assert!(errors("Message(\"stop here\", ERROR)").contains("stop here"));
        assert!(errors("Message(x, SHOUT)").contains("unrecognized message type"));
    }
}
