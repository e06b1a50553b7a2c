//! One connection: its initialisation, its operations and its end.

use std::collections::HashMap;
use std::time::Duration;

use axum::body::Bytes;
use futures::future::FutureExt as _;
use futures::stream::{AbortHandle, Abortable, SelectAll};
use futures::{Sink, SinkExt as _, Stream, StreamExt as _};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

use super::client_message::{ClientMessage, OperationId};
use super::closing::Closing;
use super::message_rate::MessageRate;
use super::open_operation::{OpenOperation, OperationOutput};
use super::outgoing::{self, Frames};
use super::unfinished_message::UnfinishedMessage;
use crate::budget::offload_if_large;
use crate::budget::{Pool, Share, slice_is_over, turn};
use crate::error::{Error, ErrorKind, Limit, Result as RequestResult};
use crate::graphql::{GraphQl, Request, Started};
use crate::limits::{Bounds, LINGER_SILENCE_MAX, WEBSOCKET_WRITTEN_BYTES};
use crate::server::access::Access;
use crate::server::access::caller::Caller;
use crate::server::response::response_body;
use crate::server::streaming::open_streams::OpenStream;
use crate::server::streaming::source::{OperationSource, Transport};

/// A WebSocket, or what replaces one in a test.
pub(crate) trait Socket:
    Stream<Item = Result<Message, SocketError>> + Sink<Message, Error = SocketError> + Unpin + Send
{
}

impl<S> Socket for S where
    S: Stream<Item = Result<Message, SocketError>>
        + Sink<Message, Error = SocketError>
        + Unpin
        + Send
{
}

/// What a connection needs besides its socket.
pub(crate) struct SessionOptions<O> {
    pub(crate) source: O,
    pub(crate) access: Access,
    pub(crate) bounds: Bounds,
    /// The memory that all requests hold.
    pub(crate) pool: Pool,
    /// The caller that the headers of the handshake identify, if they do.
    pub(crate) caller: Option<Caller>,
}

/// One connection.
pub(crate) struct WebSocketSession<'s, S, O> {
    socket: &'s mut S,
    options: SessionOptions<O>,
    /// What was received of a message that is not complete.
    unfinished: &'s UnfinishedMessage,
    /// Tells the caller once it is known.
    admitted: watch::Sender<Option<Caller>>,
    /// Whether `connection_init` was received. Then `options.caller` is known.
    initialised: bool,
    operations: SelectAll<Abortable<OpenOperation>>,
    /// How the operations end that are open.
    open: HashMap<OperationId, AbortHandle>,
    rate: MessageRate,
    read_from: Instant,
    clock: Clock,
}

/// What the time decides about a connection.
struct Clock {
    /// When the connection is looked at next.
    at: Instant,
    /// When the client sent something last.
    heard: Instant,
    /// Whether a ping was sent since.
    pinged: bool,
    /// Since when no operation is open.
    idle_since: Instant,
}

/// What happens next on a connection.
enum SessionEvent {
    Message(Option<Result<Message, SocketError>>),
    Output(OperationId, OperationOutput),
    Time,
}

/// Serves a connection until its end, and closes it. Returns why it ended.
pub(crate) async fn serve<S: Socket, O: OperationSource>(
    socket: &mut S,
    options: SessionOptions<O>,
    unfinished: &UnfinishedMessage,
    mut open: OpenStream,
) -> Closing {
    let access = options.access.clone();
    let session = WebSocketSession::new(socket, options, unfinished);
    let admitted = session.admitted.subscribe();
    // What ends a connection does not depend on whether its client reads.
    let closing = tokio::select! {
        closing = session.run() => closing,
        closing = unfinished.shed() => closing,
        error = revoked(access, admitted) => refused(&error),
        () = open.stopped() => Closing::with(Closing::STOPPING, "the server is shutting down"),
    };
    close(socket, &closing).await;
    closing
}

/// Waits until the caller, once it is known, has lost its right to the connection.
async fn revoked(access: Access, mut admitted: watch::Receiver<Option<Caller>>) -> Error {
    let caller = match admitted.wait_for(Option::is_some).await {
        Ok(caller) => caller.clone(),
        Err(_) => None,
    };
    match caller {
        Some(caller) => access.revoked(caller).await,
        None => std::future::pending().await,
    }
}

/// Sends the close frame, and waits for that of the client.
pub(crate) async fn close<S: Socket>(socket: &mut S, closing: &Closing) {
    let Some(frame) = closing.frame() else {
        return;
    };
    let closed = async {
        if socket.send(frame).await.is_ok() {
            while let Some(Ok(_)) = socket.next().await {}
        }
    };
    // A client that does not respond does not matter anymore.
    let _in_time = timeout(LINGER_SILENCE_MAX, closed).await;
}

impl<'s, S: Socket, O: OperationSource> WebSocketSession<'s, S, O> {
    fn new(
        socket: &'s mut S,
        options: SessionOptions<O>,
        unfinished: &'s UnfinishedMessage,
    ) -> Self {
        let now = Instant::now();
        Self {
            socket,
            unfinished,
            admitted: watch::Sender::new(None),
            initialised: false,
            operations: SelectAll::new(),
            open: HashMap::new(),
            rate: MessageRate::new(options.bounds.message_rate, now),
            read_from: now,
            clock: Clock {
                at: now + options.bounds.init_time,
                heard: now,
                pinged: false,
                idle_since: now,
            },
            options,
        }
    }

    async fn run(mut self) -> Closing {
        let mut clock = Box::pin(sleep_until(self.clock.at));
        loop {
            // Responses that are ready would otherwise be delivered in one poll.
            turn().await;
            if clock.deadline() != self.clock.at {
                clock.as_mut().reset(self.clock.at);
            }
            let happening = tokio::select! {
                message = next_message(self.socket, self.read_from) => SessionEvent::Message(message),
                Some((id, output)) = self.operations.next(), if !self.operations.is_empty() => {
                    SessionEvent::Output(id, output)
                }
                () = clock.as_mut() => SessionEvent::Time,
            };
            let done = match happening {
                SessionEvent::Message(Some(Ok(message))) => self.received(message).await,
                SessionEvent::Message(Some(Err(error))) => Err(self.failed(&error)),
                SessionEvent::Message(None) => Err(Closing::gone()),
                SessionEvent::Output(id, output) => self.deliver(id, output).await,
                SessionEvent::Time => self.time_passed().await,
            };
            if let Err(closing) = done {
                return closing;
            }
        }
    }

    async fn received(&mut self, message: Message) -> Result<(), Closing> {
        let now = Instant::now();
        self.clock.heard = now;
        self.clock.pinged = false;
        self.read_from = self.rate.count(now);
        // Control frames come between the frames of a message.
        match &message {
            Message::Ping(payload) | Message::Pong(payload) => {
                self.unfinished.control_frame(payload.len());
            }
            _ => self.unfinished.finished(),
        }
        match message {
            Message::Text(text) => {
                let text = Bytes::from(text);
                let bytes = text.len();
                let read = offload_if_large(bytes, move || Ok(ClientMessage::read(&text))).await;
                self.handle(read.map_err(|_| Closing::gone())??, bytes)
                    .await
            }
            Message::Binary(_) => {
                let reason = "a message is binary; messages are text";
                Err(Closing::with(Closing::INVALID_MESSAGE, reason))
            }
            Message::Close(_) => {
                // Sends the answer that the socket has prepared.
                let _answered = self.socket.flush().await;
                Err(Closing::gone())
            }
            // The socket answers pings when it is read next.
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => Ok(()),
        }
    }

    /// Handles a message of `bytes` bytes.
    async fn handle(&mut self, message: ClientMessage, bytes: usize) -> Result<(), Closing> {
        match message {
            ClientMessage::ConnectionInit { token } => {
                self.initialise(token).await?;
                self.send(outgoing::ack()).await
            }
            ClientMessage::Ping { payload } => self.send(outgoing::pong(payload)).await,
            ClientMessage::Pong => Ok(()),
            ClientMessage::Subscribe { id, request } => {
                let share = self.options.pool.share();
                let request = request.and_then(|request| share.take(bytes).map(|_| request));
                self.subscribe(id, request, share)
            }
            ClientMessage::Complete { id } => {
                if let Some(operation) = self.open.remove(&id) {
                    operation.abort();
                    self.ended();
                }
                Ok(())
            }
        }
    }

    async fn initialise(&mut self, token: Option<String>) -> Result<(), Closing> {
        if self.initialised {
            let reason = "connection_init was sent more than once";
            return Err(Closing::with(Closing::TOO_MANY_INITS, reason));
        }
        let access = &self.options.access;
        let caller = match (token, self.options.caller.take()) {
            (Some(token), _) => access.caller_with(token.as_bytes()).await,
            (None, Some(caller)) => Ok(caller),
            (None, None) => access.anonymous(),
        };
        let caller = caller.map_err(|error| refused(&error))?;
        self.admitted.send_replace(Some(caller.clone()));
        self.options.caller = Some(caller);
        self.initialised = true;
        self.unfinished.initialised();
        let now = Instant::now();
        self.clock.idle_since = now;
        self.clock.at = now + self.interval();
        Ok(())
    }

    /// Starts an operation. Nothing of it is executed before the connection is polled again.
    fn subscribe(
        &mut self,
        id: OperationId,
        request: RequestResult<Request>,
        share: Share,
    ) -> Result<(), Closing> {
        let (methods, principal) = match &self.options.caller {
            Some(caller) if self.initialised => {
                let caller = self
                    .options
                    .access
                    .renewed(caller)
                    .map_err(|error| refused(&error))?;
                (caller.methods, caller.principal)
            }
            _ => {
                let reason = "subscribe was sent before connection_init was acknowledged";
                return Err(Closing::with(Closing::UNAUTHORIZED, reason));
            }
        };
        if self.open.contains_key(&id) {
            let reason = format!("Subscriber for {id} already exists");
            return Err(Closing::with(Closing::SUBSCRIBER_EXISTS, &reason));
        }
        let operations_max = self.options.bounds.connection_operations;
        // Aborted operations count until they are dropped.
        let request = if self.operations.len() < operations_max {
            request
        } else {
            Err(Error::too_complex(
                Limit::new("connectionOperations", operations_max),
                format!(
                    "{operations_max} operations of this connection are open, which is the limit: \
                     complete one, or open another connection"
                ),
            ))
        };
        let source = self.options.source.clone();
        let started = async move {
            // The request holds its message until it is started.
            let _held = share;
            match request {
                Ok(request) => {
                    let request = Request {
                        principal,
                        ..request
                    };
                    let transport = Transport::WebSocket;
                    source.start(request, methods, None, transport).await
                }
                Err(error) => Started::Refused(GraphQl::refuse(&error)),
            }
        };
        let (handle, registration) = AbortHandle::new_pair();
        let operation = OpenOperation::new(id.clone(), started.boxed());
        self.operations
            .push(Abortable::new(operation, registration));
        self.open.insert(id, handle);
        Ok(())
    }

    /// Sends an output, and further ones that are ready, up to an amount.
    async fn deliver(&mut self, id: OperationId, output: OperationOutput) -> Result<(), Closing> {
        let mut next = Some((id, output));
        let mut fed = 0;
        while let Some((id, output)) = next {
            if !matches!(output, OperationOutput::Next(_)) {
                self.open.remove(&id);
                self.ended();
            }
            let output = held(&self.options.pool, output);
            fed += self.feed(outgoing::of_operation(&id, output)).await?;
            // The future is not waited for, so that what it would wake is polled again anyway.
            next = match fed {
                0..WEBSOCKET_WRITTEN_BYTES if !slice_is_over() => {
                    self.operations.next().now_or_never().flatten()
                }
                _ => None,
            };
        }
        self.flush().await
    }

    async fn send(&mut self, frames: Frames) -> Result<(), Closing> {
        self.feed(frames).await?;
        self.flush().await
    }

    /// Writes a message and returns its bytes. A large message is written piece by piece.
    async fn feed(&mut self, frames: Frames) -> Result<usize, Closing> {
        let mut bytes = 0;
        for frame in frames {
            if bytes > 0 {
                self.flush().await?;
            }
            bytes += frame.len();
            let fed = self.socket.feed(frame).await;
            fed.map_err(|error| self.failed(&error))?;
        }
        Ok(bytes)
    }

    async fn flush(&mut self) -> Result<(), Closing> {
        let flushed = self.socket.flush().await;
        flushed.map_err(|error| self.failed(&error))
    }

    /// Looks at the connection after some time.
    async fn time_passed(&mut self) -> Result<(), Closing> {
        if !self.initialised {
            let reason = format!(
                "connection_init did not arrive within {:?}, which is the limit",
                self.options.bounds.init_time
            );
            return Err(Closing::with(Closing::INIT_TIMEOUT, &reason));
        }
        let now = Instant::now();
        let idle_time = self.options.bounds.idle_time;
        if self.open.is_empty() && now >= self.clock.idle_since + idle_time {
            let reason = format!("no operation was open for {idle_time:?}, which is the limit");
            return Err(Closing::with(Closing::IDLE, &reason));
        }
        let silent_until = self.clock.heard + self.interval();
        if now < silent_until {
            self.clock.at = silent_until;
            return Ok(());
        }
        if std::mem::replace(&mut self.clock.pinged, true) {
            return Err(Closing::gone());
        }
        self.clock.at = now + self.interval();
        let ping = self.socket.send(Message::Ping(Bytes::new())).await;
        ping.map_err(|error| self.failed(&error))
    }

    /// Takes the time at which the last operation ended.
    fn ended(&mut self) {
        if self.open.is_empty() {
            self.clock.idle_since = Instant::now();
        }
    }

    fn interval(&self) -> Duration {
        let bounds = &self.options.bounds;
        bounds.ping_time.min(bounds.idle_time)
    }

    fn failed(&self, error: &SocketError) -> Closing {
        let refused = self.unfinished.refused();
        refused.unwrap_or_else(|| Closing::after(error, self.options.bounds.message_bytes))
    }
}

/// The next message, from the time on at which the client may send it.
async fn next_message<S: Socket>(
    socket: &mut S,
    from: Instant,
) -> Option<Result<Message, SocketError>> {
    if from > Instant::now() {
        sleep_until(from).await;
    }
    socket.next().await
}

/// Counts a response that no other stream shares as held until it is written.
fn held(pool: &Pool, output: OperationOutput) -> OperationOutput {
    match output {
        OperationOutput::Next(json) => OperationOutput::Next(response_body::held(json, pool)),
        other => other,
    }
}

/// The end of a connection whose token is not accepted, or no longer. After this code, and unlike after
/// 4401, clients of the protocol connect again, with another token if they have one.
fn refused(error: &Error) -> Closing {
    let code = match error.kind() {
        ErrorKind::Unavailable => Closing::TRY_AGAIN_LATER,
        _ => Closing::FORBIDDEN,
    };
    Closing::with(code, error.message())
}
