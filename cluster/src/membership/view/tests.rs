use super::*;
use expect_test::{Expect, expect};

type Shards = &'static [&'static [&'static str]];

/// Shards as lists of their nodes.
fn replicas(shards: Shards) -> impl Fn(&BTreeSet<&str>) -> bool {
    move |nodes| {
        let mut shards = shards.iter();
        shards.any(|shard| shard.iter().all(|node| nodes.contains(node)))
    }
}

fn nothing(_: &BTreeSet<&str>) -> bool {
    false
}

fn members(names: &str) -> Vec<Member> {
    let member = |word: &str| Member {
        draining: word.ends_with('-'),
        name: word.trim_end_matches('-').to_owned(),
        ..Member::at(&format!("{}.example:1", word.trim_end_matches('-')))
    };
    names.split_whitespace().map(member).collect()
}

/// Lines of a second and a list; `.` for time alone, `-` for draining. Renders each map, absent
/// nodes in brackets.
fn check_with(view: &mut View, would_lose: WouldLose<'_>, script: &str, expected: Expect) {
    let began = Instant::now();
    let mut out = String::new();
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (second, names) = line.split_once(':').unwrap();
        let now = began + Duration::from_secs(second.parse().unwrap());
        match names.trim() {
            "." => view.on_time(now, would_lose),
            names => view.on_list(members(names), now, would_lose).unwrap(),
        }
        out += &format!("{second}: {}\n", rendered(view));
    }
    expected.assert_eq(&out);
}

fn rendered(view: &View) -> String {
    let map = view.map();
    let word = |member: &Member| {
        if map.absent.contains(&member.name) {
            format!("({})", member.name)
        } else {
            member.name.clone()
        }
    };
    let words: Vec<String> = map.members.iter().map(word).collect();
    let frozen = map
        .frozen
        .map_or_else(String::new, |frozen| format!("; frozen: {frozen}"));
    format!("{}{frozen}", words.join(" "))
}

fn check(script: &str, expected: Expect) {
    check_with(
        &mut View::new(Vec::new(), false, Absence::default()),
        &nothing,
        script,
        expected,
    );
}

#[test]
fn nodes_join_at_once_and_leave_after_a_minute() {
    check(
        "0: a b c
         1: a b c d
         2: a b c
         61: .
         62: .",
        expect![[r#"
            0: a b c
            1: a b c d
            2: a b c (d)
            61: a b c (d)
            62: a b c
        "#]],
    );
}

#[test]
fn answers_that_flip_change_nothing() {
    check(
        "0: a b c d
         10: a b
         20: c d
         30: a d
         80: b c
         90: a b c d
         200: .",
        expect![[r#"
            0: a b c d
            10: a b (c) (d)
            20: (a) (b) c d
            30: a (b) (c) d
            80: (a) b c (d)
            90: a b c d
            200: a b c d
        "#]],
    );
}

#[test]
fn empty_answers_freeze_the_map_until_the_nodes_come_back() {
    check(
        "0: a b c
         1:
         500: .
         501: a b
         560: .
         561: .",
        expect![[r#"
            0: a b c
            1: (a) (b) (c); frozen: 3 of 3 nodes vanished
            500: (a) (b) (c); frozen: 3 of 3 nodes vanished
            501: a b (c)
            560: a b (c)
            561: a b
        "#]],
    );
}

#[test]
fn nodes_that_vanish_one_by_one_within_a_minute_freeze_the_map() {
    check(
        "0: a b c d
         10: b c d
         30: c d
         50: d
         80: .
         600: .",
        expect![[r#"
            0: a b c d
            10: (a) b c d
            30: (a) (b) c d
            50: (a) (b) (c) d; frozen: 3 of 4 nodes vanished
            80: (a) (b) (c) d; frozen: 3 of 4 nodes vanished
            600: (a) (b) (c) d; frozen: 3 of 4 nodes vanished
        "#]],
    );
}

#[test]
fn the_last_replica_of_a_shard_is_kept() {
    let replicas = replicas(&[&["a", "b"], &["b", "c"], &["d"]]);
    check_with(
        &mut View::new(Vec::new(), false, Absence::default()),
        &replicas,
        "0: a b c d e f g h
         1: c e f g h
         61: .
         62: a c e f g h
         122: d a b c e f g h",
        expect![[r#"
            0: a b c d e f g h
            1: (a) (b) c (d) e f g h
            61: (b) c (d) e f g h; frozen: shards would have no replica without b, d
            62: a c (d) e f g h; frozen: shards would have no replica without d
            122: a b c d e f g h
        "#]],
    );
}

#[test]
fn the_last_node_is_kept() {
    check(
        "0: a-
         1:
         100: .",
        expect![[r#"
            0: a
            1: (a); frozen: shards would have no replica without a
            100: (a); frozen: shards would have no replica without a
        "#]],
    );
}

#[test]
fn a_node_that_was_draining_leaves_at_once_if_others_have_its_shards() {
    let replicas = replicas(&[&["a", "b"], &["c"]]);
    check_with(
        &mut View::new(Vec::new(), false, Absence::default()),
        &replicas,
        "0: a b c
         1: a- b c-
         2: b
         100: .",
        expect![[r#"
            0: a b c
            1: a b c
            2: b (c); frozen: shards would have no replica without c
            100: b (c); frozen: shards would have no replica without c
        "#]],
    );
}

#[test]
fn the_map_of_an_earlier_process_is_used_until_there_is_a_list() {
    let mut view = View::new(members("a b c"), false, Absence::default());
    assert!(!view.map().is_confirmed);
    check_with(
        &mut view,
        &nothing,
        "0: .
         100: .
         101: x
         200: a b c x
         201: a b x
         261: .",
        expect![[r#"
            0: a b c
            100: a b c
            101: (a) (b) (c) x; frozen: 3 of 4 nodes vanished
            200: a b c x
            201: a b (c) x
            261: a b x
        "#]],
    );
    assert!(view.map().is_confirmed);
}

#[test]
fn an_operator_accepts_the_first_list_that_is_not_empty() {
    check_with(
        &mut View::new(members("a b c"), true, Absence::default()),
        &replicas(&[&["a"]]),
        "0:
         1: x
         2:
         100: .",
        expect![[r#"
            0: (a) (b) (c); frozen: 3 of 3 nodes vanished
            1: x
            2: (x); frozen: 1 of 1 nodes vanished
            100: (x); frozen: 1 of 1 nodes vanished
        "#]],
    );
}

#[test]
fn of_two_nodes_with_one_name_the_first_is_taken() {
    let mut view = View::new(Vec::new(), false, Absence::default());
    let other = Member {
        name: "a".to_owned(),
        ..Member::at("other.example:1")
    };
    let mut list = members("a b");
    list.push(other.clone());
    view.on_list(list, Instant::now(), &nothing).unwrap();
    assert_eq!(view.map().members, members("a b"));
    // A moved node has another address.
    view.on_list(vec![other.clone()], Instant::now(), &nothing)
        .unwrap();
    assert_eq!(view.map().members[0], other);
}

#[test]
fn lists_and_maps_are_bounded() {
    let mut view = View::new(Vec::new(), false, Absence::default());
    let list = |from: usize, count: usize| -> Vec<Member> {
        (from..from + count)
            .map(|number| Member::at(&format!("n{number}:1")))
            .collect()
    };
    let now = Instant::now();
    let long = view.on_list(list(0, NODES_MAX + 1), now, &nothing);
    assert_eq!(long, Err(TooManyNodes(NODES_MAX + 1)));
    assert!(view.map().members.is_empty());
    view.on_list(list(0, NODES_MAX), now, &nothing).unwrap();
    view.on_list(list(500, NODES_MAX), now, &nothing).unwrap();
    assert_eq!(view.map().members.len(), NODES_MAX);
}
