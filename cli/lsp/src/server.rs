//! One connection: reads messages in order, answers requests on a few threads.
//!
//! A request sees the buffers as they were when it arrived. **Invariant:** each request is answered
//! once, a cancelled one at once.

mod buffers;
mod cache;
mod files;
mod framing;
mod hover;
mod lexed;
mod lookup;
mod outline;
mod packages;
mod places;
mod requests;
mod targets;
#[cfg(test)]
mod tests;
mod text;

use crate::{Corpus, Ended, Workspace};
use buffers::Buffers;
use lookup::Lookup;
use lsp_server::{ErrorCode, Message, Notification, ReqQueue, Request, RequestId, Response};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    HoverProviderCapability, InitializeParams, InitializeResult, OneOf, ServerCapabilities,
    ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
};
use places::Places;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{BufRead, Result, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use text::Encoding;

/// Requests answered at once. Each may wait for a server.
const THREADS: usize = 4;

/// Requests that wait for a thread.
const WAITING_MAX: usize = 64;

/// Serves one editor until it exits or closes `input`.
///
/// # Errors
/// Malformed messages, and failures of the streams.
pub fn serve(
    corpus: impl Fn() -> Arc<dyn Corpus>,
    workspace: Workspace,
    mut input: impl BufRead,
    output: impl Write + Send + 'static,
) -> Result<Ended> {
    let client = Mutex::new(Client {
        output,
        requests: ReqQueue::default(),
    });
    let shared = Arc::new(Shared {
        places: Places::new(workspace),
        client,
    });
    let (sender, waiting) = sync_channel(WAITING_MAX);
    let waiting = Arc::new(Mutex::new(waiting));
    for number in 0..THREADS {
        let (shared, waiting) = (shared.clone(), waiting.clone());
        // An editor that exits does not wait for a search.
        let thread = thread::Builder::new().name(format!("request-{number}"));
        thread.spawn(move || shared.answer_all(&waiting))?;
    }
    let session = Session {
        corpus: &corpus,
        shared: &shared,
        jobs: sender,
        buffers: Buffers::default(),
        encoding: Encoding::default(),
        state: State::New,
    };
    session.run(&mut input)
}

/// Output, and the requests without a response.
struct Client<W> {
    output: W,
    requests: ReqQueue<Arc<dyn Corpus>, ()>,
}

struct Shared<W> {
    places: Places,
    client: Mutex<Client<W>>,
}

/// Request with the buffers at its time.
struct Job {
    request: Request,
    corpus: Arc<dyn Corpus>,
    buffers: Buffers,
    encoding: Encoding,
}

impl<W: Write> Client<W> {
    fn send(&mut self, response: Response) -> Result<()> {
        Message::from(response).write(&mut self.output)?;
        self.output.flush()
    }
}

impl<W: Write> Shared<W> {
    fn client(&self) -> MutexGuard<'_, Client<W>> {
        locked(&self.client)
    }

    fn answer_all(&self, waiting: &Mutex<Receiver<Job>>) {
        let next = || locked(waiting).recv();
        while let Ok(job) = next() {
            let id = &job.request.id;
            if self.client().requests.incoming.is_completed(id) {
                continue;
            }
            let lookup = Lookup {
                corpus: &*job.corpus,
                places: &self.places,
                buffers: &job.buffers,
                encoding: job.encoding,
            };
            let response = requests::answer(&lookup, job.request);
            // The reader of the input ends the connection.
            let _ = self.respond(response);
        }
    }

    /// Sends a response, unless the request was cancelled.
    fn respond(&self, response: Response) -> Result<()> {
        let mut client = self.client();
        match client.requests.incoming.complete(&response.id) {
            Some(_) => client.send(response),
            None => Ok(()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Initialized,
    ShutDown,
}

/// Reader of the input.
struct Session<'s, W> {
    corpus: &'s dyn Fn() -> Arc<dyn Corpus>,
    shared: &'s Shared<W>,
    jobs: SyncSender<Job>,
    buffers: Buffers,
    encoding: Encoding,
    state: State,
}

impl<W: Write> Session<'_, W> {
    fn run(mut self, input: &mut impl BufRead) -> Result<Ended> {
        while let Some(message) = framing::read(input)? {
            match message {
                Message::Request(request) => self.request(request)?,
                Message::Notification(it) if it.method == "exit" => {
                    return Ok(match self.state {
                        State::ShutDown => Ended::Regular,
                        _ => Ended::Abrupt,
                    });
                }
                Message::Notification(it) => self.notification(it)?,
                Message::Response(_) => {}
            }
        }
        Ok(Ended::Regular)
    }

    fn request(&mut self, request: Request) -> Result<()> {
        let (id, corpus) = (request.id.clone(), (self.corpus)());
        let mut client = self.shared.client();
        client
            .requests
            .incoming
            .register(id.clone(), corpus.clone());
        drop(client);
        let refusal = match (self.state, &*request.method) {
            (State::New, "initialize") => return self.initialize(request),
            (State::New, _) => (
                ErrorCode::ServerNotInitialized,
                "the first request is initialize".to_owned(),
            ),
            (State::ShutDown, _) => (
                ErrorCode::InvalidRequest,
                "the server is shut down".to_owned(),
            ),
            (_, "shutdown") => {
                self.state = State::ShutDown;
                return self.shared.respond(Response::new_ok(id, Value::Null));
            }
            (_, method) if !requests::is_known(method) => (
                ErrorCode::MethodNotFound,
                format!("{method} is not supported"),
            ),
            _ => {
                let (buffers, encoding) = (self.buffers.clone(), self.encoding);
                match self.jobs.try_send(Job {
                    request,
                    corpus,
                    buffers,
                    encoding,
                }) {
                    Ok(()) => return Ok(()),
                    Err(_) => (
                        ErrorCode::ServerCancelled,
                        "too many requests at once".to_owned(),
                    ),
                }
            }
        };
        self.shared.respond(refused(id, refusal.0, refusal.1))
    }

    fn initialize(&mut self, request: Request) -> Result<()> {
        let params = match serde_json::from_value::<InitializeParams>(request.params) {
            Ok(params) => params,
            Err(error) => {
                return self
                    .shared
                    .respond(refused(request.id, ErrorCode::InvalidParams, error));
            }
        };
        self.shared.places.packages.set_folders(&params);
        let general = params.capabilities.general;
        self.encoding = Encoding::of(general.and_then(|it| it.position_encodings).as_deref());
        self.state = State::Initialized;
        let result = InitializeResult {
            capabilities: capabilities(self.encoding),
            server_info: Some(ServerInfo {
                name: "trawl".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        };
        self.shared.respond(Response::new_ok(request.id, result))
    }

    /// Unknown and malformed notifications are ignored, as there is no response.
    fn notification(&mut self, it: Notification) -> Result<()> {
        match &*it.method {
            "$/cancelRequest" => return self.cancel(&it.params),
            "textDocument/didOpen" => {
                if let Some(DidOpenTextDocumentParams { text_document }) = parsed(it.params) {
                    self.buffers
                        .set(text_document.uri.as_str(), text_document.text);
                }
            }
            "textDocument/didChange" => {
                let params: Option<DidChangeTextDocumentParams> = parsed(it.params);
                for (uri, change) in params.into_iter().flat_map(|it| {
                    let changes = it.content_changes.into_iter();
                    changes.map(move |change| (it.text_document.uri.clone(), change))
                }) {
                    self.buffers.edit(uri.as_str(), change, self.encoding);
                }
            }
            "textDocument/didClose" => {
                if let Some(DidCloseTextDocumentParams { text_document }) = parsed(it.params) {
                    self.buffers.close(text_document.uri.as_str());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn cancel(&self, params: &Value) -> Result<()> {
        let id: Option<RequestId> = params.get("id").cloned().and_then(parsed);
        let mut client = self.shared.client();
        let corpus = id.and_then(|id| Some((client.requests.incoming.complete(&id)?, id)));
        let Some((corpus, id)) = corpus else {
            return Ok(());
        };
        corpus.cancel();
        client.send(refused(
            id,
            ErrorCode::RequestCanceled,
            "cancelled by the editor",
        ))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn parsed<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

fn refused(id: RequestId, code: ErrorCode, reason: impl ToString) -> Response {
    Response::new_err(id, code as i32, reason.to_string())
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(encoding.name()),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}
