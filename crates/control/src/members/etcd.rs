//! etcd by its JSON gateway (etcd 3.4 and later): the messages of its version 3 API, as JSON over HTTP. Keys and values are
//! in base64, 64-bit numbers are strings, and members that have their default value are left out.

use super::http::{Answer, post};
use super::tls::Tls;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::net::TcpStream;

/// A server, and the right to ask it.
pub(super) struct Client {
    server: String,
    tls: Option<Tls>,
    token: Option<String>,
}

/// A value, and what all of the store's values are as of.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Versioned {
    pub(super) value: Option<String>,
    pub(super) revision: i64,
}

fn encoded(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

fn decoded(value: &Value) -> Result<String, String> {
    let bytes = BASE64_STANDARD.decode(value.as_str().unwrap_or_default());
    let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| "a value that is no text".to_owned())
}

/// A number of 64 bits, which JSON has as a string; absent means 0.
fn number(value: &Value) -> i64 {
    value.as_i64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(0)
}

/// What etcd says has gone wrong.
fn complaint(status: u16, body: &Value) -> String {
    let text =
        [&body["message"], &body["error"]["message"], &body["error"]].into_iter().find_map(Value::as_str);
    format!("status {status}: {}", text.unwrap_or("no reason given"))
}

impl Client {
    /// A client of the server at a host and port, with TLS if it is given. `user` is a name and a password.
    ///
    /// # Errors
    /// The server is not there, or does not let the user in.
    pub(super) fn new(
        server: &str,
        tls: Option<Tls>,
        user: Option<&(String, String)>,
    ) -> Result<Client, String> {
        let mut client = Client { server: server.to_owned(), tls, token: None };
        if let Some((name, password)) = user {
            let answer =
                client.ask("/v3/auth/authenticate", &json!({ "name": name, "password": password }))?;
            let token = answer["token"].as_str().filter(|token| !token.contains(['\r', '\n']));
            client.token = Some(token.ok_or("no token")?.to_owned());
        }
        Ok(client)
    }

    fn open(&self, path: &str, request: &Value) -> Result<Answer, String> {
        let answer =
            post(&self.server, self.tls.as_ref(), path, self.token.as_deref(), &request.to_string())?;
        if answer.status == 200 {
            return Ok(answer);
        }
        let status = answer.status;
        let body = answer.text().unwrap_or_default();
        Err(format!(
            "{}: {}",
            self.server,
            complaint(status, &serde_json::from_str(&body).unwrap_or_default())
        ))
    }

    fn ask(&self, path: &str, request: &Value) -> Result<Value, String> {
        let text = self.open(path, request)?.text().map_err(|error| format!("{}: {error}", self.server))?;
        // A stream of answers has one a line; here only the first is asked for.
        let first = text.lines().next().unwrap_or_default();
        serde_json::from_str(first).map_err(|error| format!("{}: no JSON: {error}", self.server))
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Result<Versioned, String> {
        let answer = self.ask("/v3/kv/range", &json!({ "key": encoded(key) }))?;
        let value = answer["kvs"].get(0).map(|pair| decoded(&pair["value"])).transpose()?;
        Ok(Versioned { value, revision: number(&answer["header"]["revision"]) })
    }

    /// Sets a key that goes away with a lease.
    pub(super) fn put(&self, key: &str, value: &str, lease: i64) -> Result<(), String> {
        let request = json!({ "key": encoded(key), "value": encoded(value), "lease": lease.to_string() });
        self.ask("/v3/kv/put", &request).map(drop)
    }

    /// A lease for so many seconds.
    pub(super) fn grant(&self, seconds: u32) -> Result<i64, String> {
        let answer = self.ask("/v3/lease/grant", &json!({ "TTL": seconds.to_string() }))?;
        match number(&answer["ID"]) {
            0 => Err(format!("{}: no lease", self.server)),
            lease => Ok(lease),
        }
    }

    /// Renews a lease; whether there still was one.
    pub(super) fn keep_alive(&self, lease: i64) -> Result<bool, String> {
        let answer = self.ask("/v3/lease/keepalive", &json!({ "ID": lease.to_string() }))?;
        Ok(number(&answer["result"]["TTL"]) > 0)
    }

    /// Ends a lease, and with it the keys that have it.
    pub(super) fn revoke(&self, lease: i64) -> Result<(), String> {
        self.ask("/v3/lease/revoke", &json!({ "ID": lease.to_string() })).map(drop)
    }

    /// Changes of a key from a revision on.
    pub(super) fn watch(&self, key: &str, from: i64) -> Result<Watch, String> {
        let request =
            json!({ "create_request": { "key": encoded(key), "start_revision": from.to_string() } });
        Ok(Watch(self.open("/v3/watch", &request)?))
    }
}

/// Changes of a key as they come.
pub(super) struct Watch(Answer);

impl Watch {
    /// What can be waited on for a change.
    pub(super) fn socket(&self) -> &TcpStream {
        self.0.socket()
    }

    /// Whether changes have come that were not taken yet.
    pub(super) fn has_changes(&self) -> bool {
        self.0.has_lines()
    }

    /// The latest value among the changes that have come; `None` if no change made one, as when the key was removed.
    ///
    /// # Errors
    /// The server has ended the watch, or is gone.
    pub(super) fn latest(&mut self) -> Result<Option<String>, String> {
        let mut latest = None;
        for line in self.0.lines()?.lines() {
            let answer: Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))?;
            let result = &answer["result"];
            if result.is_null() || result["canceled"] == true {
                let why = result["cancel_reason"].as_str().map(str::to_owned);
                // Changes before the compaction are gone; a client that reads the key again knows what they led to.
                return Err(why.unwrap_or_else(|| format!("the watch has ended: {line}")));
            }
            for event in result["events"].as_array().into_iter().flatten() {
                // Without a type it is a PUT.
                latest = match event["type"].as_str() {
                    None | Some("PUT") => Some(decoded(&event["kv"]["value"])?),
                    Some(_) => None,
                };
            }
        }
        Ok(latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers and texts as the gateway writes them.
    #[test]
    fn values_are_read_and_written_as_the_gateway_does() {
        assert_eq!(number(&json!("7587899083959520518")), 7_587_899_083_959_520_518);
        assert_eq!([number(&json!(5)), number(&Value::Null), number(&json!("x"))], [5, 0, 0]);
        assert_eq!(
            (encoded("hallo"), decoded(&json!("aGFsbG8="))),
            ("aGFsbG8=".to_owned(), Ok("hallo".to_owned()))
        );
        assert!(decoded(&json!("/w==")).is_err() && decoded(&json!("?")).is_err());
        let told = |body| complaint(400, &body);
        assert!(told(json!({ "error": "a", "message": "b", "code": 9 })).contains(": b"));
        assert!(told(json!({ "error": { "message": "c" } })).contains(": c"));
    }
}
