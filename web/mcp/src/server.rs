//! Server of one client, and its tools.

mod answer;
mod arguments;
mod call;
mod explain;
mod guess;
mod history;
mod lists;
mod nothing;
mod read;
mod search;

use crate::reply::Reply;
use bytes::Bytes;
use call::{Call, Failure};
use frontend::{Coordinator, Scope};
use http::Request;
use http_body_util::Full;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::schemars::JsonSchema;
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use std::io::{Error, Result as IoResult};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

const INSTRUCTIONS: &str = "Search of all lines of an indexed corpus; every match is counted. \
    Begin with search or search_many, then read the files by their headings. Words side by side \
    must all be in a file; narrow with path:, lang:, package:, -kind:tests.";

/// Longest wait for the index of earlier changes. Later, the answer says that some are pending. A
/// server's index may be one of an archive, which takes minutes.
const FRESH_MAX: Duration = Duration::from_secs(10);
const FRESH_MAX_OF_SERVERS: Duration = Duration::from_secs(1);

/// Server of one client.
#[derive(Clone)]
pub struct Server {
    /// `None` until the index is built.
    coordinator: watch::Receiver<Option<Arc<Coordinator>>>,
    scope: Scope,
    client: u64,
    fresh_max: Duration,
}

macro_rules! tools {
    ($($name:ident($arguments:ident), $title:literal, $description:literal;)*) => {
        fn tools() -> Vec<Tool> {
            vec![$(tool::<arguments::$arguments>(stringify!($name), $title, $description)),*]
        }

        impl Server {
            /// `None` for an unknown tool.
            async fn run(&self, request: CallToolRequestParams) -> Option<Result<String, Failure>> {
                let Some(call) = self.call().await else {
                    let text = "the index is being built; try again soon, or search with `trawl grep`";
                    return Some(Err(Failure::of(text)));
                };
                Some(match &*request.name {
                    $(stringify!($name) => match arguments::parse(request.arguments) {
                        Ok(arguments) => call.$name(arguments).await,
                        Err(mistake) => Err(mistake),
                    },)*
                    _ => return None,
                })
            }
        }
    };
}

tools! {
    search(SearchArguments), "Search code", "Search code: files with their best lines, definitions \
        first. The query is words that a file must all contain and filters: package:, path:, \
        lang:, ext:, kind:, rev:; /regexp/, \"exact text\", (a OR b), -excluded, type:path for \
        names, count:10. With regexp=true it is one ripgrep pattern. The last line counts all \
        matches and has the token of the next page. \
        Example: {\"query\": \"open_file path:^src/ -kind:tests\"}";
    search_many(ManyArguments), "Several searches", "Up to 8 searches at once, for alternatives \
        and unknown spellings: each file once, within one budget. \
        Example: {\"queries\": [\"parse config\", \"load_settings\"]}";
    read(ReadArguments), "Read a file", "Read numbered lines of a file, also several ranges. \
        Example: {\"file\": \"linux/mm/slab.c\", \"ranges\": [[1, 40], [200, 260]]}";
    files(FilesArguments), "List files", "List files by glob, regular expression or package. \
        Example: {\"glob\": \"**/*_test.go\", \"package\": \"etcd\"}";
    repositories(RepositoriesArguments), "List packages", "List the indexed packages and git \
        repositories, with their revisions and age. Example: {\"prefix\": \"lib\"}";
    history(HistoryArguments), "Git history", "Show the history of a git repository: show=log \
        lists commits, of a path or all; show=commit has the message and changed files of rev; \
        show=blame has the commit of each line of path. \
        Example: {\"repository\": \"linux\", \"path\": \"mm/slab.c\", \"show\": \"log\"}";
    explain(ExplainArguments), "Explain a query", "Show how a query is understood, and which of \
        its words are too common. Example: {\"query\": \"if path:*.c\"}";
}

fn tool<A: JsonSchema + 'static>(name: &'static str, title: &str, about: &'static str) -> Tool {
    let annotations = ToolAnnotations::with_title(title)
        .read_only(true)
        .idempotent(true)
        .open_world(false);
    Tool::new(name, about, Arc::new(JsonObject::new()))
        .with_input_schema::<A>()
        .with_annotations(annotations)
}

impl Server {
    /// Serves the packages in `scope`. `client` tells clients apart for fairness; 0 if unknown.
    pub fn new(coordinator: Arc<Coordinator>, scope: Scope, client: u64) -> Server {
        Server {
            coordinator: watch::Sender::new(Some(coordinator)).subscribe(),
            scope,
            client,
            fresh_max: FRESH_MAX_OF_SERVERS,
        }
    }

    /// Server of an index that is being built: clients wait only seconds for the first answer of a
    /// server.
    pub fn begun(coordinator: watch::Receiver<Option<Arc<Coordinator>>>, scope: Scope) -> Server {
        Server {
            coordinator,
            scope,
            client: 0,
            fresh_max: FRESH_MAX,
        }
    }

    /// Begins a call once its answer is of the files as they are; `None` without an index.
    async fn call(&self) -> Option<Call> {
        let until = Instant::now() + self.fresh_max;
        let mut coordinator = self.coordinator.clone();
        let coordinator = timeout_at(until, coordinator.wait_for(Option::is_some)).await;
        let coordinator = coordinator.ok()?.ok()?.clone()?;
        coordinator.wait_until_fresh(until - Instant::now()).await;
        Some(Call {
            coordinator,
            scope: self.scope.clone(),
            client: self.client,
        })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("trawl", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.clone();
        let ran = tokio::select! {
            ran = self.run(request) => ran,
            // Dropping the call stops its search.
            () = context.ct.cancelled() => Some(Err(Failure("cancelled".to_owned()))),
        };
        let result = match ran {
            Some(Ok(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Some(Err(Failure(text))) => CallToolResult::error(vec![ContentBlock::text(text)]),
            None => {
                let names: Vec<_> = tools().into_iter().map(|tool| tool.name).collect();
                let names = names.join(", ");
                let text = format!("there is no tool {name}; the tools are {names}");
                return Err(ErrorData::invalid_params(text, None));
            }
        };
        Ok(result.into())
    }
}

/// Serves a client on standard input and output, until it closes them.
pub async fn serve_stdio(server: Server) -> IoResult<()> {
    let (input, output) = rmcp::transport::stdio_pipes();
    serve(server, input, output).await
}

/// Serves a client that sends and reads lines, until it closes `input`.
pub async fn serve<I, O>(server: Server, input: I, output: O) -> IoResult<()>
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    match server.serve((input, output)).await {
        Ok(running) => running.waiting().await.map(drop).map_err(Error::other),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(Error::other(error)),
    }
}

/// Answers one HTTP request, without a session. Hosts and origins must be checked.
pub async fn handle(server: Server, request: Request<Bytes>) -> Option<Reply> {
    let mut config = StreamableHttpServerConfig::default().disable_allowed_hosts();
    config.legacy_session_mode = false;
    config.json_response = true;
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    Some(service.handle(request.map(Full::new)).await)
}
