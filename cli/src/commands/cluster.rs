//! `trawl cluster`: shows, plans and drains nodes of a store.

mod ask;
mod report;
mod status;

use super::nodes::SourceFlags;
use super::tls_flags::BackendClientTls;
use crate::exit::Exit;
use crate::placing::Placing;
use crate::terminal;
use crate::units;
use ::cluster::membership::{Etcd, Member, Source};
use ::store::{Group, NodeStatus, Objects};
use anyhow::{Context, Result, bail, ensure};
use ask::{Answers, ask};
use serde::Serialize;
use status::{ClusterStatus, Shards, bytes, shards};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Polling interval while waiting for nodes.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Show and plan the placement of shards on the backends of a store, and drain backends
///
/// The placement is computed from the node list and the store. `status` and `drain` also query the
/// backends, since their reports in the store outlive their processes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl cluster status --store s3://code/index --nodes etcd:http://10.0.0.9:2379
  trawl cluster plan --store S --nodes etcd:http://10.0.0.9:2379 --add b5/zone=west --remove b2
  trawl cluster drain b2 --nodes etcd:http://10.0.0.9:2379 --store S
                                           move all shards of b2 away, and wait for the end
  trawl cluster drain b2 --nodes etcd:http://10.0.0.9:2379 --undo")]
pub(crate) struct ClusterArguments {
    #[command(subcommand)]
    command: ClusterCommand,
}

#[derive(clap::Subcommand)]
enum ClusterCommand {
    Status(StatusArguments),
    Plan(PlanArguments),
    Drain(DrainArguments),
}

/// Show nodes, their shards, moving shards, and shards with too few replicas
///
/// Exit status: 0 every shard has its replicas, 2 error, 3 some shards lack replicas, or with
/// --wait something still moves.
#[derive(clap::Args)]
struct StatusArguments {
    /// Store: a directory or s3://BUCKET/PREFIX
    #[arg(long, value_name = "STORE")]
    store: String,
    #[command(flatten)]
    nodes: SourceFlags,
    #[command(flatten)]
    tls: BackendClientTls,
    /// Trust the reports of the last three minutes in the store, without querying the nodes
    ///
    /// For machines that cannot reach the nodes.
    #[arg(long)]
    unasked: bool,
    /// Wait at most this many seconds until every shard has its replicas and nothing moves, then
    /// show the status
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(..=86_400))]
    wait: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show the shards that would move if nodes were added or removed
#[derive(clap::Args)]
struct PlanArguments {
    /// Store: a directory or s3://BUCKET/PREFIX
    #[arg(long, value_name = "STORE")]
    store: String,
    #[command(flatten)]
    nodes: SourceFlags,
    /// Node to add; repeat for each
    #[arg(long, value_name = "NAME[/zone=ZONE][/weight=N]")]
    add: Vec<String>,
    /// Node to remove; repeat for each
    #[arg(long, value_name = "NAME")]
    remove: Vec<String>,
    /// Number of replicas of each shard [default: that of the store]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=i64::from(::store::REPLICAS_MAX)))]
    replicas: Option<u8>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Move the shards of a node to the others, and send it no new searches. Needs etcd
///
/// The mark stays in etcd, also when the node restarts, until --undo.
#[derive(clap::Args)]
struct DrainArguments {
    /// Name of the node
    node: String,
    #[command(flatten)]
    nodes: SourceFlags,
    /// Wait until the node has no shards according to this store
    #[arg(long, value_name = "STORE", conflicts_with = "undo")]
    store: Option<String>,
    #[command(flatten)]
    tls: BackendClientTls,
    /// Return the shards to the node
    #[arg(long)]
    undo: bool,
}

pub(super) fn run(arguments: &ClusterArguments) -> Result<Exit> {
    match &arguments.command {
        ClusterCommand::Status(arguments) => status(arguments),
        ClusterCommand::Plan(arguments) => plan(arguments),
        ClusterCommand::Drain(arguments) => drain(arguments),
    }
}

fn status(arguments: &StatusArguments) -> Result<Exit> {
    let objects = Objects::open(&arguments.store)?;
    let deadline = Instant::now() + Duration::from_secs(arguments.wait.unwrap_or(0));
    let answer = loop {
        let members = arguments.nodes.list()?;
        let answers = if arguments.unasked {
            Answers::new()
        } else {
            ask(&members, &arguments.tls)?
        };
        let answer = ClusterStatus::read(&objects, &members, &answers)?;
        if answer.is_settled() || Instant::now() >= deadline {
            break answer;
        }
        std::thread::sleep(LOOK_EVERY);
    };
    if arguments.json {
        terminal::print_json(&answer)?;
    } else {
        report::print(&answer)?;
    }
    let is_good = answer.under_replicated == 0;
    let is_settled = arguments.wait.is_none() || answer.is_settled();
    Ok(Exit::Success.if_complete(is_good && is_settled))
}

#[derive(Serialize)]
struct Plan {
    generation: u64,
    replicas: u8,
    /// Counted once per replica.
    bytes: u64,
    moving_bytes: u64,
    nodes: Vec<PlannedNode>,
}

#[derive(Serialize)]
struct PlannedNode {
    node: String,
    shards_before: u64,
    shards_after: u64,
    bytes_after: u64,
    fetched_shards: u64,
    fetched_bytes: u64,
    dropped_shards: u64,
}

fn plan(arguments: &PlanArguments) -> Result<Exit> {
    let before = arguments.nodes.list()?;
    let after = changed(&before, &arguments.add, &arguments.remove)?;
    let objects = Objects::open(&arguments.store)?;
    let all = Shards::read(&objects)?;
    let replicas = all.generation.replicas;
    let replicas_after = arguments.replicas.unwrap_or(replicas);
    let had = all.placed(&Placing::new(&before), replicas);
    let gets = all.placed(&Placing::new(&after), replicas_after);
    let names: BTreeSet<&String> = had.keys().chain(gets.keys()).collect();
    let planned = |name: &String| {
        let had = had.get(name).map_or(&[][..], Vec::as_slice);
        let gets = gets.get(name).map_or(&[][..], Vec::as_slice);
        let (fetched, dropped) = (without(gets, had), without(had, gets));
        PlannedNode {
            node: name.clone(),
            shards_before: shards(had),
            shards_after: shards(gets),
            bytes_after: bytes(gets),
            fetched_shards: shards(&fetched),
            fetched_bytes: bytes(&fetched),
            dropped_shards: shards(&dropped),
        }
    };
    let nodes: Vec<PlannedNode> = names.into_iter().map(planned).collect();
    let answer = Plan {
        generation: all.generation.number,
        replicas: replicas_after,
        bytes: nodes.iter().map(|node| node.bytes_after).sum(),
        moving_bytes: nodes.iter().map(|node| node.fetched_bytes).sum(),
        nodes,
    };
    if arguments.json {
        terminal::print_json(&answer)?;
    } else {
        print_plan(&answer)?;
    }
    Ok(Exit::Success)
}

fn without<'a>(groups: &[&'a Group], others: &[&Group]) -> Vec<&'a Group> {
    let others: BTreeSet<[u8; 32]> = others.iter().map(|it| it.id).collect();
    let rest = groups.iter().copied();
    rest.filter(|it| !others.contains(&it.id)).collect()
}

/// Applies `--add` and `--remove`.
fn changed(before: &[Member], add: &[String], remove: &[String]) -> Result<Vec<Member>> {
    let mut after = before.to_vec();
    for name in remove {
        let is_there = after.iter().any(|member| member.name == *name);
        ensure!(is_there, "--remove {name}: {}", no_node(name, before));
        after.retain(|member| member.name != *name);
    }
    for text in add {
        let (name, rest) = text.split_at(text.find('/').unwrap_or(text.len()));
        // Placement ignores addresses.
        let source = format!("static:{name}=localhost:1{rest}");
        let wrong = || format!("--add {text}: not NAME[/zone=ZONE][/weight=N]");
        let Source::Static(added) = source.parse().with_context(wrong)? else {
            bail!(wrong());
        };
        for member in &added {
            let is_there = after.iter().any(|other| other.name == member.name);
            ensure!(!is_there, "--add {text}: there is a node of this name");
        }
        after.extend(added);
    }
    Ok(after)
}

fn no_node(name: &str, members: &[Member]) -> String {
    let names: Vec<&str> = members.iter().map(|member| &*member.name).collect();
    format!("no node is called {name}; there are {}", names.join(", "))
}

fn print_plan(answer: &Plan) -> Result<()> {
    let row = |node: &PlannedNode| {
        vec![
            node.node.clone(),
            units::count(node.shards_before),
            units::count(node.shards_after),
            units::size(node.bytes_after),
            units::count(node.fetched_shards),
            units::size(node.fetched_bytes),
            units::count(node.dropped_shards),
        ]
    };
    let heading = "NODE,SHARDS,WOULD HAVE,SIZE,FETCHES,SIZE,DROPS";
    report::print_table(heading, answer.nodes.iter().map(row))?;
    terminal::print(format_args!(
        "{} of {} would move ({:.1} %)",
        units::size(answer.moving_bytes),
        units::size(answer.bytes),
        100.0 * answer.moving_bytes as f64 / answer.bytes.max(1) as f64
    ))?;
    Ok(())
}

fn drain(arguments: &DrainArguments) -> Result<Exit> {
    let node = &arguments.node;
    let source = arguments.nodes.nodes.as_ref();
    let source = source.context("give --nodes etcd:URL")?;
    let Some(etcd) = Etcd::new(source, arguments.nodes.tls()?) else {
        bail!(
            "--nodes {source}: only etcd can keep what is drained; with another source give the node /weight=0 there, or \
             remove it"
        );
    };
    if arguments.undo {
        etcd.undrain(node)?;
        terminal::report(format_args!("{node} is not drained"));
        return Ok(Exit::Success);
    }
    let members = arguments.nodes.list()?;
    let is_there = members.iter().any(|member| member.name == *node);
    ensure!(is_there, "{}", no_node(node, &members));
    etcd.drain(node)?;
    terminal::report(format_args!(
        "{node} is drained: its shards move to other nodes; `--undo` ends that"
    ));
    match &arguments.store {
        None => Ok(Exit::Success),
        Some(store) => wait_until_empty(arguments, &Objects::open(store)?),
    }
}

/// Prints progress. An unreachable node counts as empty.
fn wait_until_empty(arguments: &DrainArguments, objects: &Objects) -> Result<Exit> {
    let (node, mut shown) = (&arguments.node, String::new());
    loop {
        let said = NodeStatus::of(objects, node)?.map_or(0, |(said, _)| said.shards);
        let mut members = arguments.nodes.list()?;
        members.retain(|member| member.name == *node);
        let left = match ask(&members, &arguments.tls)?.remove(node) {
            Some(Ok(announced)) if said == 0 && announced.shards == 0 => {
                terminal::report(format_args!("{node} has no shards and can be stopped"));
                return Ok(Exit::Success);
            }
            Some(Ok(announced)) => {
                let left = units::plural(announced.shards.max(said), "shard");
                format!("{node} still has {left}")
            }
            Some(Err(reason)) => format!(
                "{node} does not answer ({reason}); it is asked again, and its shards are fetched from the store"
            ),
            None => format!("{node} is not listed any more"),
        };
        if shown != left {
            terminal::report(&left);
            shown = left;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
