//! The handler `routes_detail`: what a source knows of its routes. Its thread answers, since the routes are that thread's.

use super::fib::{Fib, Page};
use super::install::Shared;
use super::links::Known;
use crate::feed::Feed;
use elements_shared::route_port::Destination;
use router::{HandlerResult, Handlers, Outcome};
use std::any::Any;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Destinations that are told of unless more are asked for.
const MOST: usize = 1000;
/// How long the thread may take, which may be waiting for room in a table.
const PATIENCE: Duration = Duration::from_secs(10);

/// A question to a source's thread.
struct Question {
    page: Page,
    answer: Sender<String>,
}

/// Questions that the thread has not answered yet.
#[derive(Default)]
pub(super) struct Questions(Mutex<Vec<Question>>);

impl Questions {
    fn take(&self) -> Vec<Question> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn ask(&self, page: Page) -> Receiver<String> {
        let (answer, receive) = channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Question { page, answer });
        receive
    }

    /// Answers them. For the thread that has the routes.
    pub(super) fn answer(&self, fib: &Fib, table: Option<u32>, links: &Known) {
        for Question { page, answer } in self.take() {
            let routes = fib.details(page, table, links);
            let lines: Vec<String> = routes.iter().map(ToString::to_string).collect();
            // Who asked may have gone.
            let _ = answer.send(format!("[{}]\n", lines.join(",\n")));
        }
    }
}

/// Adds the handler; `feed` says which thread has the routes.
pub(super) fn handler<E: Any>(
    h: &mut Handlers,
    feed: impl Fn(&E) -> Option<&Feed<Shared>> + Send + Sync + 'static,
) {
    h.read_outcome("routes_detail", move |e: &mut E, _, text| match page(text) {
        Err(why) => Outcome::Done(Err(why.into())),
        Ok(page) => match feed(e) {
            None => Outcome::Done(Ok("[]\n".to_owned())),
            Some(feed) => {
                let answer = feed.shared.questions.ask(page);
                feed.wake();
                let late = || "the thread that has the routes does not answer: it may be waiting for room in a table";
                Outcome::Aside(Box::new(move || {
                    let result: HandlerResult = answer.recv_timeout(PATIENCE).map_err(|_| late().into());
                    result.into()
                }))
            }
        },
    });
}

/// Reads `[PREFIX [COUNT]]`.
fn page(text: &str) -> Result<Page, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (from, most) = match words[..] {
        [] => return Ok(Page { from: None, most: MOST }),
        [from] => (from, MOST),
        [from, most] => (from, most.parse().map_err(|_| format!("bad count '{most}'"))?),
        _ => return Err("expected '[PREFIX [COUNT]]'".to_owned()),
    };
    let (address, len) = from.split_once('/').unwrap_or((from, "0"));
    let bad = || format!("bad prefix '{from}': expected ADDR/LEN");
    let address: IpAddr = address.parse().map_err(|_| bad())?;
    let len = len.parse().map_err(|_| bad())?;
    Ok(Page { from: Some(Destination { address, len }), most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_asked_for_by_prefix_and_count() {
        let from =
            |address: &str, len| Some(Destination { address: address.parse().expect("an address"), len });
        assert_eq!(page(""), Ok(Page { from: None, most: MOST }));
        assert_eq!(page("10.0.0.0/8 5"), Ok(Page { from: from("10.0.0.0", 8), most: 5 }));
        assert_eq!(page("::1"), Ok(Page { from: from("::1", 0), most: MOST }));
        for bad in ["x", "10.0.0.0/x", "10.0.0.0/8 x", "10.0.0.0/8 1 1"] {
            assert!(page(bad).is_err(), "{bad}");
        }
    }
}
