use super::*;
use testkit::redis::{FakeRedis, Fault};

const LIFE: Duration = Duration::from_secs(60);

type Change = fn(&str, &[u8]) -> Vec<u8>;

/// Far longer than a breaker stays open.
const PATIENCE: Duration = Duration::from_secs(100);

const LOOK_UP_BUSY: Duration = Duration::from_secs(2);

fn hints(redis: &FakeRedis, secret: &[u8]) -> Arc<Hints> {
    Hints::start(&redis.url(), Some(HintSecret::new(secret))).unwrap()
}

async fn get(hints: &Hints, key: &[u8]) -> Option<Hint> {
    hints.get("test", &[key.to_vec()]).await.remove(0)
}

async fn shared(hints: &Hints, key: &[u8], made: Instant) -> Hint {
    let started = Instant::now();
    loop {
        hints.put("test", key, b"value", made, LIFE);
        // Repeated only if it was dropped.
        for _ in 0..200 {
            if let Some(hint) = get(hints, key).await {
                return hint;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(started.elapsed() < PATIENCE, "nothing was shared");
    }
}

/// Looks up until found, since look-ups may time out on a busy machine.
async fn found(hints: &Hints, key: &[u8]) -> Hint {
    let started = Instant::now();
    loop {
        if let Some(hint) = get(hints, key).await {
            return hint;
        }
        assert!(started.elapsed() < PATIENCE, "nothing is found");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn connect(hints: &Hints) {
    let started = Instant::now();
    while hints.link.connection().is_none() {
        assert!(started.elapsed() < PATIENCE, "there is no connection");
        get(hints, b"").await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn an_answer_that_one_frontend_shares_another_finds_with_its_age() {
    let redis = FakeRedis::start();
    let (one, two) = (hints(&redis, b"secret"), hints(&redis, b"secret"));
    let made = Instant::now().checked_sub(Duration::from_secs(10)).unwrap();
    shared(&one, b"key", made).await;
    connect(&two).await;
    let hint = found(&two, b"key").await;
    assert_eq!(hint.value, b"value");
    assert!(hint.age >= Duration::from_secs(10), "{hint:?}");
    assert_eq!(get(&two, b"other key").await, None);
    let stranger = hints(&redis, b"another secret");
    connect(&stranger).await;
    assert_eq!(get(&stranger, b"key").await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_redis_does_costs_a_moment_and_then_nothing() {
    let faults = [
        Fault::Down,
        Fault::Frozen,
        Fault::Slow(Duration::from_secs(5)),
        Fault::Error,
        Fault::WrongAnswer,
        Fault::Garbage,
        Fault::Huge,
    ];
    let tried = faults.map(|fault| tokio::spawn(fails_and_recovers(fault)));
    for tried in tried {
        tried.await.unwrap();
    }
}

async fn fails_and_recovers(fault: Fault) {
    let redis = FakeRedis::start();
    let hints = hints(&redis, b"secret");
    shared(&hints, b"key", Instant::now()).await;
    redis.set_fault(fault);
    let began = Instant::now();
    let mut is_skipped = false;
    while !is_skipped {
        let started = Instant::now();
        assert_eq!(get(&hints, b"key").await, None, "{fault:?}");
        assert!(started.elapsed() < LOOK_UP_BUSY, "{fault:?}");
        let is_patient = began.elapsed() < PATIENCE;
        assert!(is_patient, "{fault:?}: Redis is asked again and again");
        is_skipped = hints.link.breaker.admit().is_err();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    redis.set_fault(Fault::None);
    shared(&hints, b"key", Instant::now()).await;
}

#[tokio::test]
async fn foreign_data_is_a_miss_and_does_not_open_the_breaker() {
    let redis = FakeRedis::start();
    let hints = hints(&redis, b"secret");
    let garbage = |_: &str, _: &[u8]| b"somebody else's".to_vec();
    let version = |_: &str, entry: &[u8]| [b"trawl\x02", &entry[6..]].concat();
    let empty = |_: &str, _: &[u8]| Vec::new();
    let large = |_: &str, _: &[u8]| vec![b'x'; 3 * ENTRY_BYTES_MAX];
    let changes: [Change; 4] = [garbage, version, empty, large];
    for change in changes {
        shared(&hints, b"key", Instant::now()).await;
        redis.change(change);
        for _ in 0..10 {
            assert_eq!(get(&hints, b"key").await, None);
        }
    }
    shared(&hints, b"key", Instant::now()).await;
    redis.persist();
    assert_eq!(get(&hints, b"key").await, None, "it would stay for ever");
    shared(&hints, b"key", Instant::now()).await;
    redis.set_fault(Fault::WrongType);
    for _ in 0..10 {
        assert_eq!(get(&hints, b"key").await, None);
    }
    redis.wipe();
    redis.set_fault(Fault::None);
    assert_eq!(get(&hints, b"key").await, None);
    assert!(hints.link.breaker.admit().is_ok());
}

#[tokio::test]
async fn an_entry_of_one_key_says_nothing_about_another() {
    let redis = FakeRedis::start();
    let hints = hints(&redis, b"secret");
    shared(&hints, b"one", Instant::now()).await;
    let (_, entry) = redis.entries().remove(0);
    hints.put("test", b"two", b"other", Instant::now(), LIFE);
    while redis.entries().len() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    redis.change(|_, _| entry.clone());
    found(&hints, b"one").await;
    assert_eq!(get(&hints, b"two").await, None);
}

#[tokio::test]
async fn writes_that_do_not_fit_in_the_queue_are_dropped_without_waiting() {
    let redis = FakeRedis::start();
    redis.set_fault(Fault::Frozen);
    let hints = hints(&redis, b"secret");
    for number in 0..10 * WRITES_MAX {
        let key = number.to_le_bytes();
        hints.put("test", &key, b"value", Instant::now(), LIFE);
    }
    assert_eq!(hints.writes.capacity(), 0);
    assert_eq!(hints.writes.max_capacity(), WRITES_MAX);
}

#[tokio::test]
async fn more_keys_than_fit_in_a_look_up_are_misses() {
    let redis = FakeRedis::start();
    let hints = hints(&redis, b"secret");
    shared(&hints, b"key", Instant::now()).await;
    let found = hints
        .get("test", &vec![b"key".to_vec(); KEYS_MAX + 3])
        .await;
    assert_eq!(found.len(), KEYS_MAX + 3);
    assert!(found[..KEYS_MAX].iter().all(Option::is_some));
    assert!(found[KEYS_MAX..].iter().all(Option::is_none));
}

#[tokio::test]
async fn an_address_without_a_redis_is_refused_and_its_password_not_shown() {
    for (url, reason) in [
        ("", "does not begin with redis://"),
        ("localhost", "does not begin with redis://"),
        ("http://u:hunter2@localhost", "does not begin with redis://"),
        ("unix:///run/redis", "does not begin with redis://"),
        ("rediss://u:hunter2@localhost", "TLS is not supported"),
        ("redis://", "Missing hostname"),
        ("redis://:hunter2@/0", "did not parse"),
        (
            "redis://:hunter2@localhost:66000",
            "Redis URL did not parse",
        ),
        ("redis://:hunter2@localhost/x", "Invalid database number"),
        ("redis://:hunter2@localhost/0?protocol=resp3", "%3F"),
        ("redis://:hun#ter2@localhost/0", "%23"),
    ] {
        let error = Hints::start(url, None).expect_err(url).to_string();
        assert!(error.starts_with("expected redis://[USER"), "{error}");
        assert!(error.contains(reason), "{url}: {error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
    let hints = Hints::start("redis://:hunter2@127.0.0.1:1/0", None).unwrap();
    assert!(!format!("{hints:?}").contains("hunter2"));
    assert_eq!(hints.hash_key(), None);
}

#[test]
fn keys_differ_by_secret_and_by_use() {
    let secrets = [HintSecret::new(b"one"), HintSecret::new(b"two")];
    let keys = secrets.map(|it| (entry_key(Some(&it)), it.hash_key()));
    assert_ne!(keys[0].0, keys[1].0);
    assert_ne!(keys[0].1, keys[1].1);
    assert_ne!(keys[0].0, keys[0].1);
}
