//! What strangers can hold: connections, and how long they may take.
//!
//! Each connection has a place. Where all are taken, a new client gets that of the one that has been silent longest; one whose request is
//! being answered keeps its own. The time that a client has runs from when it connects, or takes a part of an answer, and bytes that it sends
//! do not prolong it: a request has to arrive whole within it.

use crate::access::problem;
use crate::shared::Shared;
use axum::body::{Body, to_bytes};
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use tokio::time::Sleep;

/// What clients may hold at a time. The headers of a request have about 400 KiB at most (hyper's own bound).
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// Connections.
    pub(crate) connections: usize,
    /// Connections on which events are streamed.
    pub(crate) streams: usize,
    /// How long a client may take to send a request, or to take a part of an answer.
    pub(crate) patience: Duration,
    /// Bytes of a request's body: only those who have the token send any.
    pub(crate) body: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { connections: 64, streams: 16, patience: Duration::from_secs(30), body: 16 << 20 }
    }
}

/// What a client does.
enum Occupation {
    /// Sends a request, or will, or takes an answer; silent since then.
    Silent(Instant),
    /// Waits for an answer that is being made.
    Served,
}

/// A connection, as those see it who admit and who serve.
struct Link {
    occupation: Occupation,
    /// Dropped to close the connection.
    door: Option<oneshot::Sender<()>>,
}

/// The client of a request.
#[derive(Clone)]
pub(crate) struct Client(Arc<Mutex<Link>>);

impl Client {
    fn link(&self) -> MutexGuard<'_, Link> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn occupy(&self, occupation: Occupation) {
        self.link().occupation = occupation;
    }

    fn silent_since(&self) -> Option<Instant> {
        match self.link().occupation {
            Occupation::Silent(since) => Some(since),
            Occupation::Served => None,
        }
    }
}

impl<L: Listener> Connected<IncomingStream<'_, Bounded<L>>> for Client {
    fn connect_info(stream: IncomingStream<'_, Bounded<L>>) -> Client {
        stream.io().client.clone()
    }
}

/// All that are connected.
#[derive(Default)]
struct Places(Mutex<Vec<Client>>);

impl Places {
    fn all(&self) -> MutexGuard<'_, Vec<Client>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for another client, and what tells that it has to go; none if all are being served.
    fn take(&self, most: usize) -> Option<(Client, oneshot::Receiver<()>)> {
        let mut all = self.all();
        if all.len() >= most {
            let silent = all.iter().enumerate().filter_map(|(at, client)| Some((client.silent_since()?, at)));
            let (_, at) = silent.min()?;
            all.swap_remove(at).link().door = None;
        }
        let (door, closed) = oneshot::channel();
        let link = Link { occupation: Occupation::Silent(Instant::now()), door: Some(door) };
        let client = Client(Arc::new(Mutex::new(link)));
        all.push(client.clone());
        Some((client, closed))
    }

    fn leave(&self, client: &Client) {
        self.all().retain(|known| !Arc::ptr_eq(&known.0, &client.0));
    }
}

/// A listener that gives places to clients.
pub(crate) struct Bounded<L> {
    listener: L,
    bounds: Bounds,
    places: Arc<Places>,
}

impl<L> Bounded<L> {
    pub(crate) fn new(listener: L, bounds: Bounds) -> Bounded<L> {
        Bounded { listener, bounds, places: Arc::default() }
    }
}

impl<L: Listener> Listener for Bounded<L> {
    type Io = Connection<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, from) = self.listener.accept().await;
            // Where all are being served, the connection is closed at once.
            if let Some((client, closed)) = self.places.take(self.bounds.connections) {
                let (patience, places) = (self.bounds.patience, self.places.clone());
                let timer = Box::pin(tokio::time::sleep(patience));
                return (
                    Connection { stream, client, places, closed, timer, patience, is_over: false },
                    from,
                );
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection that ends when its client takes too long, or has to make room.
pub(crate) struct Connection<S> {
    stream: S,
    client: Client,
    places: Arc<Places>,
    closed: oneshot::Receiver<()>,
    timer: Pin<Box<Sleep>>,
    patience: Duration,
    is_over: bool,
}

impl<S> Connection<S> {
    /// Waits for the end of the client's time, and says why the connection ends.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        if self.is_over || Pin::new(&mut self.closed).poll(cx).is_ready() {
            self.is_over = true;
            return Poll::Ready(ErrorKind::ConnectionAborted.into());
        }
        // When the answer is there, it is written, which leads here again.
        let Some(since) = self.client.silent_since() else { return Poll::Pending };
        let due = since + self.patience;
        if due > Instant::now() {
            self.timer.as_mut().reset(due.into());
            ready!(self.timer.as_mut().poll(cx));
        }
        self.is_over = true;
        Poll::Ready(ErrorKind::TimedOut.into())
    }

    /// What came of writing.
    fn written(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match result {
            Poll::Pending => self.poll_end(cx).map(Err),
            Poll::Ready(Ok(bytes)) if bytes > 0 && self.client.silent_since().is_some() => {
                self.client.occupy(Occupation::Silent(Instant::now()));
                result
            }
            _ => result,
        }
    }
}

impl<S> Drop for Connection<S> {
    fn drop(&mut self) {
        self.places.leave(&self.client);
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match Pin::new(&mut this.stream).poll_read(cx, buffer) {
            Poll::Pending => this.poll_end(cx).map(Err),
            ready => ready,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.written(cx, result)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write_vectored(cx, parts);
        this.written(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

/// A client whose request is being answered, until this is dropped.
struct Served(Client);

impl Served {
    fn new(client: Client) -> Served {
        client.occupy(Occupation::Served);
        Served(client)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.occupy(Occupation::Silent(Instant::now()));
    }
}

/// Takes a request's body, which may have so many bytes, and has the request answered, however long that takes.
pub(crate) async fn serve(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(client): ConnectInfo<Client>,
    request: Request,
    next: Next,
) -> Response {
    let (head, body) = request.into_parts();
    let most = shared.bounds.body;
    let Ok(body) = to_bytes(body, most).await else {
        return problem(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("a request has a body of {most} bytes at most"),
        );
    };
    let _served = Served::new(client);
    next.run(Request::from_parts(head, Body::from(body))).await
}
