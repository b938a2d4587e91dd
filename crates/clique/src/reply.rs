//! What a router has answered.

use control::{Failure, Reply};

/// The response to a command that was carried out, or what it says instead.
pub(crate) fn fine(reply: Result<Reply, Failure>) -> Result<Reply, String> {
    let reply = reply.map_err(|failure| failure.to_string())?;
    if reply.is_fine() { Ok(reply) } else { Err(reply.messages.join("\n")) }
}

/// The data of a response, or what it says instead.
pub(crate) fn data(reply: Result<Reply, Failure>) -> Result<String, String> {
    Ok(fine(reply)?.data.unwrap_or_default())
}
