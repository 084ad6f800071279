//! `trawl cluster`: what operators see of the nodes that share a store, and what they do with them.

use super::nodes::SourceFlags;
use crate::placing::Placing;
use crate::terminal::{self, escaped};
use crate::{exit, units};
use ::cluster::membership::{Etcd, Member, Source};
use ::store::{Generation, Group, NodeStatus, Objects, groups};
use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// A node that has said nothing for so long is not counted as one that has its shards: it says something every minute.
const SILENT_MAX: Duration = Duration::from_secs(180);

/// How often a node that is drained is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Look at the backends that share a store: which has what, what is moving, and what would move
///
/// Which backend has which shards is computed from the list of nodes and the store. So these commands ask the store and the
/// list, and no backend.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl cluster status --store s3://code/index --nodes etcd:http://10.0.0.9:2379
  trawl cluster plan --store S --nodes etcd:http://10.0.0.9:2379 --add b5/zone=west --remove b2
  trawl cluster drain b2 --nodes etcd:http://10.0.0.9:2379 --store S
                                           move the shards of b2 to the others, and wait until it has none
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

/// Show the nodes, their shards, and which shards have too few replicas
///
/// Exit status: 0 every shard has its replicas, 2 error, 3 some have not.
#[derive(clap::Args)]
struct StatusArguments {
    /// The store, a directory or s3://BUCKET/PREFIX
    #[arg(long, value_name = "STORE")]
    store: String,
    #[command(flatten)]
    nodes: SourceFlags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show what would move if nodes came or went
#[derive(clap::Args)]
struct PlanArguments {
    /// The store, a directory or s3://BUCKET/PREFIX
    #[arg(long, value_name = "STORE")]
    store: String,
    #[command(flatten)]
    nodes: SourceFlags,
    /// A node that would come; repeat for each
    #[arg(long, value_name = "NAME[/zone=ZONE][/weight=N]")]
    add: Vec<String>,
    /// A node that would go; repeat for each
    #[arg(long, value_name = "NAME")]
    remove: Vec<String>,
    /// Have so many replicas [default: as the store says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=i64::from(::store::REPLICAS_MAX)))]
    replicas: Option<u8>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Move the shards of a node to the others; it gets no new searches. Needs etcd
///
/// The mark stays in etcd, also when the node is started again, until --undo.
#[derive(clap::Args)]
struct DrainArguments {
    /// The node
    node: String,
    #[command(flatten)]
    nodes: SourceFlags,
    /// Wait until the node has no shards; the store says so
    #[arg(long, value_name = "STORE", conflicts_with = "undo")]
    store: Option<String>,
    /// Give the node its shards again
    #[arg(long)]
    undo: bool,
}

pub(super) fn run(arguments: &ClusterArguments) -> Result<ExitCode> {
    match &arguments.command {
        ClusterCommand::Status(arguments) => status(arguments),
        ClusterCommand::Plan(arguments) => plan(arguments),
        ClusterCommand::Drain(arguments) => drain(arguments),
    }
}

fn listed(nodes: &SourceFlags) -> Result<Vec<Member>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(nodes.list())
}

/// The answer of `status`.
#[derive(Serialize)]
struct ClusterStatus {
    store: String,
    generation: u64,
    replicas: u8,
    shards: u64,
    bytes: u64,
    nodes: Vec<NodeRow>,
    /// Shards by how many nodes have them of those that are to.
    shards_by_replicas: BTreeMap<u64, u64>,
    /// Shards that have fewer than they are to have.
    under_replicated: u64,
    /// What an operator should know.
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct NodeRow {
    node: String,
    address: String,
    zone: String,
    weight: u32,
    state: &'static str,
    /// The generation of which it has everything; nothing if it has said nothing.
    generation: Option<u64>,
    shards: Option<u64>,
    bytes: Option<u64>,
    fetching_bytes: Option<u64>,
    /// Shards that it is to have.
    assigned_shards: u64,
    assigned_bytes: u64,
    /// When it last said something, in seconds before now.
    seconds_ago: Option<u64>,
}

/// Which shards are where, of the current generation.
struct Shards {
    generation: Generation,
    groups: Vec<Group>,
}

impl Shards {
    fn read(objects: &Objects) -> Result<Shards> {
        let generation = Generation::current(objects)?;
        let groups = groups(&generation);
        Ok(Shards { generation, groups })
    }

    /// The groups of each node.
    fn assigned(&self, placing: &Placing, replicas: u8) -> BTreeMap<String, Vec<&Group>> {
        let placement = placing.placement(replicas);
        let none = placing.nodes().iter();
        let mut assigned: BTreeMap<String, Vec<&Group>> =
            none.map(|node| (node.name.clone(), Vec::new())).collect();
        for group in &self.groups {
            for owner in placement.owners(&group.id) {
                assigned.entry(owner.name.clone()).or_default().push(group);
            }
        }
        assigned
    }
}

fn shards(groups: &[&Group]) -> u64 {
    groups.iter().map(|group| group.shards).sum()
}

fn bytes(groups: &[&Group]) -> u64 {
    groups.iter().map(|group| group.bytes).sum()
}

fn status(arguments: &StatusArguments) -> Result<ExitCode> {
    let members = listed(&arguments.nodes)?;
    let objects = Objects::open(&arguments.store)?;
    let answer = cluster_status(&objects, &members)?;
    if arguments.json {
        terminal::print(serde_json::to_string(&answer)?)?;
    } else {
        print_status(&answer)?;
    }
    Ok(exit::complete_or(
        answer.under_replicated == 0,
        ExitCode::SUCCESS,
    ))
}

fn cluster_status(objects: &Objects, members: &[Member]) -> Result<ClusterStatus> {
    let all = Shards::read(objects)?;
    let placing = Placing::new(members);
    let (number, replicas) = (all.generation.number, all.generation.replicas);
    let assigned = all.assigned(&placing, replicas);
    let now = SystemTime::now();
    let mut rows = Vec::new();
    let mut has: BTreeMap<[u8; 32], u64> = BTreeMap::new();
    for member in members {
        let said = NodeStatus::of(objects, &member.name)?;
        let own = assigned.get(&member.name).map_or(&[][..], |own| &own[..]);
        let ago = said
            .as_ref()
            .map(|(_, when)| now.duration_since(*when).unwrap_or_default());
        let is_silent = ago.is_some_and(|ago| ago > SILENT_MAX);
        let is_ready = !is_silent
            && (said.as_ref())
                .is_some_and(|(said, _)| said.generation == number && said.map == placing.hash());
        if is_ready {
            for group in own {
                *has.entry(group.id).or_default() += 1;
            }
        }
        let state = match &said {
            _ if member.weight == 0 && said.as_ref().is_some_and(|it| it.0.shards > 0) => {
                "draining"
            }
            _ if member.weight == 0 => "empty",
            None => "new",
            Some(_) if is_silent => "silent",
            Some((said, _)) if said.fetching > 0 => "fetching",
            Some(_) if is_ready => "ready",
            Some(_) => "behind",
        };
        let said = said.map(|(said, _)| said);
        let of = |value: fn(&NodeStatus) -> u64| said.as_ref().map(value);
        rows.push(NodeRow {
            node: member.name.clone(),
            address: member.address.clone(),
            zone: member.zone.clone(),
            weight: member.weight,
            state,
            generation: of(|said| said.generation),
            shards: of(|said| said.shards),
            bytes: of(|said| said.bytes),
            fetching_bytes: of(|said| said.fetching),
            assigned_shards: shards(own),
            assigned_bytes: bytes(own),
            seconds_ago: ago.map(|ago| ago.as_secs()),
        });
    }
    let mut by_replicas: BTreeMap<u64, u64> = BTreeMap::new();
    for group in &all.groups {
        let replicas = has.get(&group.id).copied().unwrap_or(0);
        *by_replicas.entry(replicas).or_default() += group.shards;
    }
    let too_few = by_replicas.range(..u64::from(replicas));
    Ok(ClusterStatus {
        store: objects.url(),
        generation: number,
        replicas,
        shards: all.groups.iter().map(|group| group.shards).sum(),
        bytes: all.generation.bytes(),
        under_replicated: too_few.map(|(_, shards)| shards).sum(),
        shards_by_replicas: by_replicas,
        warnings: warnings(members, &placing, replicas),
        nodes: rows,
    })
}

/// What is wrong with the list of nodes.
fn warnings(members: &[Member], placing: &Placing, replicas: u8) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut by_zone: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in placing.nodes() {
        by_zone.entry(&node.zone).or_default().push(&node.name);
    }
    let count = placing.nodes().len();
    if count < usize::from(replicas) {
        warnings.push(format!(
            "each shard is to have {replicas} replicas, but there are only {} to have them",
            units::plural(count as u64, "node")
        ));
    } else if replicas > 1 && by_zone.len() == 1 && !by_zone.contains_key("") {
        warnings.push("all nodes are in one zone, so all replicas can be lost at once".to_owned());
    }
    if by_zone.len() > 1
        && let Some(unzoned) = by_zone.get("")
    {
        warnings.push(format!(
            "without a zone, which counts as one of its own: {}",
            unzoned.join(", ")
        ));
    }
    for (zone, nodes) in by_zone.iter().filter(|(zone, _)| !zone.is_empty()) {
        if by_zone.len() == usize::from(replicas) && nodes.len() == 1 && count > by_zone.len() {
            let node = nodes[0];
            warnings.push(format!(
                "zone {zone} has one node, {node}, which therefore has a replica of every shard"
            ));
        }
    }
    let names: BTreeSet<&str> = members.iter().map(|member| &*member.name).collect();
    if names.len() < members.len() {
        warnings.push("several nodes have the same name".to_owned());
    }
    warnings
}

fn print_status(answer: &ClusterStatus) -> Result<()> {
    terminal::print(format_args!(
        "{}: generation {}, {} ({}), {} each",
        escaped(&answer.store),
        answer.generation,
        units::plural(answer.shards, "shard"),
        units::size(answer.bytes),
        units::plural(u64::from(answer.replicas), "replica"),
    ))?;
    let heading = [
        "NODE",
        "ADDRESS",
        "ZONE",
        "WEIGHT",
        "STATE",
        "GENERATION",
        "SHARDS",
        "SIZE",
        "FETCHING",
        "SEEN",
    ];
    let mut table = vec![heading.map(str::to_owned)];
    for node in &answer.nodes {
        let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let fetching = node.fetching_bytes.filter(|bytes| *bytes > 0);
        table.push([
            node.node.clone(),
            node.address.clone(),
            if node.zone.is_empty() {
                "-".to_owned()
            } else {
                node.zone.clone()
            },
            node.weight.to_string(),
            node.state.to_owned(),
            or_none(node.generation.map(|it| it.to_string())),
            format!(
                "{} of {}",
                or_none(node.shards.map(units::count)),
                units::count(node.assigned_shards)
            ),
            or_none(node.bytes.map(units::size)),
            or_none(fetching.map(units::size)),
            or_none(node.seconds_ago.map(units::age)),
        ]);
    }
    print_table(&table)?;
    for (replicas, shards) in &answer.shards_by_replicas {
        if *replicas < u64::from(answer.replicas) {
            terminal::print(format_args!(
                "{} of {} ready: {}",
                replicas,
                units::plural(u64::from(answer.replicas), "replica"),
                units::plural(*shards, "shard")
            ))?;
        }
    }
    if answer.under_replicated == 0 {
        terminal::print("every shard has its replicas")?;
    }
    for warning in &answer.warnings {
        terminal::print(format_args!("warning: {}", escaped(warning)))?;
    }
    Ok(())
}

/// Prints columns, as wide as their widest cell.
fn print_table<const N: usize>(table: &[[String; N]]) -> Result<()> {
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    for row in table {
        let cells = row.iter().zip(&widths);
        let line: Vec<String> = cells
            .map(|(cell, width)| format!("{:width$}", escaped(cell)))
            .collect();
        terminal::print(line.join("  ").trim_end())?;
    }
    Ok(())
}

/// The answer of `plan`.
#[derive(Serialize)]
struct Plan {
    generation: u64,
    replicas: u8,
    /// Bytes of all shards, each counted for every replica that it would have.
    bytes: u64,
    /// Bytes that nodes would fetch.
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

fn plan(arguments: &PlanArguments) -> Result<ExitCode> {
    let before = listed(&arguments.nodes)?;
    let after = changed(&before, &arguments.add, &arguments.remove)?;
    let objects = Objects::open(&arguments.store)?;
    let all = Shards::read(&objects)?;
    let replicas = all.generation.replicas;
    let replicas_after = arguments.replicas.unwrap_or(replicas);
    let had = all.assigned(&Placing::new(&before), replicas);
    let gets = all.assigned(&Placing::new(&after), replicas_after);
    let names: BTreeSet<&String> = had.keys().chain(gets.keys()).collect();
    let nodes: Vec<PlannedNode> = names
        .into_iter()
        .map(|name| {
            let none = Vec::new();
            let (had, gets) = (
                had.get(name).unwrap_or(&none),
                gets.get(name).unwrap_or(&none),
            );
            let ids = |of: &[&Group]| -> BTreeSet<[u8; 32]> { of.iter().map(|it| it.id).collect() };
            let (ids_had, ids_gets) = (ids(had), ids(gets));
            let mut fetched = gets.clone();
            fetched.retain(|group| !ids_had.contains(&group.id));
            let mut dropped = had.clone();
            dropped.retain(|group| !ids_gets.contains(&group.id));
            PlannedNode {
                node: name.clone(),
                shards_before: shards(had),
                shards_after: shards(gets),
                bytes_after: bytes(gets),
                fetched_shards: shards(&fetched),
                fetched_bytes: bytes(&fetched),
                dropped_shards: shards(&dropped),
            }
        })
        .collect();
    let answer = Plan {
        generation: all.generation.number,
        replicas: replicas_after,
        bytes: nodes.iter().map(|node| node.bytes_after).sum(),
        moving_bytes: nodes.iter().map(|node| node.fetched_bytes).sum(),
        nodes,
    };
    if arguments.json {
        terminal::print(serde_json::to_string(&answer)?)?;
    } else {
        print_plan(&answer)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The nodes after a change.
fn changed(before: &[Member], add: &[String], remove: &[String]) -> Result<Vec<Member>> {
    let mut after = before.to_vec();
    for name in remove {
        ensure!(
            after.iter().any(|member| member.name == *name),
            "--remove {name}: {}",
            no_node(name, before)
        );
        after.retain(|member| member.name != *name);
    }
    for text in add {
        let (name, rest) = match text.split_once('/') {
            Some((name, rest)) => (name, format!("/{rest}")),
            None => (&**text, String::new()),
        };
        // Its address does not matter.
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
    let heading = [
        "NODE",
        "SHARDS",
        "WOULD HAVE",
        "SIZE",
        "FETCHES",
        "SIZE",
        "DROPS",
    ];
    let mut table = vec![heading.map(str::to_owned)];
    for node in &answer.nodes {
        table.push([
            node.node.clone(),
            units::count(node.shards_before),
            units::count(node.shards_after),
            units::size(node.bytes_after),
            units::count(node.fetched_shards),
            units::size(node.fetched_bytes),
            units::count(node.dropped_shards),
        ]);
    }
    print_table(&table)?;
    terminal::print(format_args!(
        "{} of {} would move ({})",
        units::size(answer.moving_bytes),
        units::size(answer.bytes),
        units::share(answer.moving_bytes, answer.bytes)
    ))?;
    Ok(())
}

fn drain(arguments: &DrainArguments) -> Result<ExitCode> {
    let node = &arguments.node;
    let source = arguments.nodes.source().context("give --nodes etcd:URL")?;
    let Some(etcd) = Etcd::new(source, arguments.nodes.tls()?) else {
        bail!(
            "--nodes {source}: only etcd can keep what is drained; with another source give the node /weight=0 there, or \
             remove it"
        );
    };
    if arguments.undo {
        etcd.undrain(node)?;
        terminal::report(format_args!("{node} is not drained"));
        return Ok(ExitCode::SUCCESS);
    }
    let members = listed(&arguments.nodes)?;
    ensure!(
        members.iter().any(|member| member.name == *node),
        "{}",
        no_node(node, &members)
    );
    etcd.drain(node)?;
    terminal::report(format_args!(
        "{node} is drained: its shards move to other nodes; `--undo` ends that"
    ));
    match &arguments.store {
        None => Ok(ExitCode::SUCCESS),
        Some(store) => wait_until_empty(&Objects::open(store)?, node),
    }
}

/// Waits until a node has no shards, and says how far it is.
fn wait_until_empty(objects: &Objects, node: &str) -> Result<ExitCode> {
    let mut shown = None;
    loop {
        let said = NodeStatus::of(objects, node)?;
        let left = said.map_or(0, |(said, _)| said.shards);
        if left == 0 {
            terminal::report(format_args!("{node} has no shards and can be stopped"));
            return Ok(ExitCode::SUCCESS);
        }
        if shown.replace(left) != Some(left) {
            let left = units::plural(left, "shard");
            terminal::report(format_args!("{node} still has {left}"));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
