use super::super::credentials::Credentials;
use super::super::visible::NameGlobs;
use super::*;
use frontend::{HintSecret, PackageNames};
use http::{HeaderMap, HeaderValue, header};
use testkit::redis::{FakeRedis, Fault};

const LIVES: DecisionLives = DecisionLives {
    allowed: Duration::from_secs(30),
    denied: Duration::from_secs(5),
};

const PATIENCE: Duration = Duration::from_secs(100);

fn principal(cookie: &'static str) -> Principal {
    let mut headers = HeaderMap::new();
    headers.insert(header::COOKIE, HeaderValue::from_static(cookie));
    let credentials = Credentials::new(&headers, &[header::COOKIE]).unwrap();
    credentials.principal(&[7; 32])
}

fn split() -> NameSplit {
    let names = PackageNames::new([&b"a"[..], b"b", b"c"]);
    NameSplit::new(Arc::new(names), &NameGlobs::new::<&str>(&[]).unwrap())
}

async fn frontend(redis: &FakeRedis) -> SharedDecisions {
    let secret = HintSecret::new(b"secret");
    let hints = Hints::start(&redis.url(), Some(secret)).unwrap();
    let shared = SharedDecisions::new(Arc::clone(&hints), "http://auth/", LIVES);
    let started = Instant::now();
    let asked = redis.commands("PTTL");
    while redis.commands("PTTL") == asked {
        assert!(started.elapsed() < PATIENCE, "it does not connect");
        hints.get(KIND, &[b"probe".to_vec()]).await;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    shared
}

async fn written(redis: &FakeRedis, writes: usize) {
    let started = Instant::now();
    while redis.commands("SET") < writes {
        assert!(started.elapsed() < PATIENCE, "nothing is written");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A busy machine may cancel some.
const LOOK_UPS: usize = 20;

async fn found(shared: &SharedDecisions, who: Principal, name: &[u8]) -> Option<(bool, Duration)> {
    for _ in 0..LOOK_UPS {
        if let Some(found) = shared.name(who, name).await {
            return Some(found);
        }
    }
    None
}

async fn sees(shared: &SharedDecisions, who: Principal, name: &[u8]) -> Option<bool> {
    Some(found(shared, who, name).await?.0)
}

/// Retries with new frontends: after a timeout one does not ask Redis for a while.
async fn a_new_one_sees(redis: &FakeRedis, who: Principal, name: &[u8]) -> bool {
    let started = Instant::now();
    loop {
        let shared = frontend(redis).await;
        if let Some(answer) = sees(&shared, who, name).await {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "it is told nothing");
    }
}

async fn sees_all(shared: &SharedDecisions, who: Principal) -> Option<Vec<bool>> {
    for _ in 0..LOOK_UPS {
        if let Some(found) = shared.all(who, &split()).await {
            return Some(found.0);
        }
    }
    None
}

fn ago(seconds: u64) -> Instant {
    Instant::now()
        .checked_sub(Duration::from_secs(seconds))
        .unwrap()
}

#[tokio::test]
async fn decisions_are_shared_with_their_age_and_only_for_their_caller() {
    let redis = FakeRedis::start();
    let (one, two) = (frontend(&redis).await, frontend(&redis).await);
    let (ann, bob) = (principal("user=ann"), principal("user=bob"));
    one.tell_name(ann, b"a", true, ago(10));
    one.tell_all(ann, &split(), &[true, false, true], ago(10));
    written(&redis, 2).await;
    let found = found(&two, ann, b"a").await.unwrap();
    assert!(found.0 && found.1 >= Duration::from_secs(10));
    assert_eq!(sees(&two, ann, b"b").await, None);
    assert_eq!(sees(&two, bob, b"a").await, None);
    assert_eq!(sees_all(&two, bob).await, None);
    assert_eq!(sees_all(&two, ann).await, Some(vec![true, false, true]));
    let other = SharedDecisions::new(Arc::clone(&two.hints), "http://other/", LIVES);
    assert_eq!(sees(&other, ann, b"a").await, None, "another service");
}

#[tokio::test]
async fn an_allow_of_one_caller_is_none_for_another_wherever_it_lies() {
    let redis = FakeRedis::start();
    let (one, two) = (frontend(&redis).await, frontend(&redis).await);
    let (ann, bob) = (principal("user=ann"), principal("user=bob"));
    one.tell_name(ann, b"a", true, Instant::now());
    written(&redis, 1).await;
    let (_, anns) = redis.entries().remove(0);
    one.tell_name(bob, b"a", true, Instant::now());
    written(&redis, 2).await;
    redis.change(|_, _| anns.clone());
    assert_eq!(sees(&two, bob, b"a").await, None);
    assert_eq!(sees(&two, ann, b"a").await, Some(true));
}

#[tokio::test]
async fn a_decision_is_not_used_beyond_its_life() {
    let redis = FakeRedis::start();
    let (one, mut two) = (frontend(&redis).await, frontend(&redis).await);
    let ann = principal("user=ann");
    one.tell_name(ann, b"a", true, ago(10));
    one.tell_all(ann, &split(), &[true; 3], ago(10));
    one.tell_name(ann, b"b", true, ago(31));
    written(&redis, 2).await;
    assert_eq!(sees(&two, ann, b"b").await, None);
    two.lives.allowed = Duration::from_secs(9);
    assert_eq!(sees(&two, ann, b"a").await, None, "over here");
    assert_eq!(sees_all(&two, ann).await, None, "over here");
}

#[tokio::test]
async fn a_denial_overwrites_an_allow_whichever_is_written_last() {
    let redis = FakeRedis::start();
    let (one, two) = (frontend(&redis).await, frontend(&redis).await);
    let ann = principal("user=ann");
    let before = Instant::now();
    one.tell_name(ann, b"a", true, before);
    one.tell_name(ann, b"b", true, before);
    one.tell_all(ann, &split(), &[true; 3], before);
    written(&redis, 3).await;
    two.tell_name(ann, b"a", false, Instant::now());
    written(&redis, 6).await;
    let three = frontend(&redis).await;
    assert!(!a_new_one_sees(&redis, ann, b"a").await);
    assert_eq!(sees_all(&three, ann).await, None);
    // Older knowledge arrives late.
    one.tell_name(ann, b"a", true, before);
    one.tell_all(ann, &split(), &[true; 3], before);
    written(&redis, 8).await;
    let four = frontend(&redis).await;
    assert_eq!(sees(&four, ann, b"a").await, None);
    assert_eq!(sees_all(&four, ann).await, None);
    assert!(a_new_one_sees(&redis, ann, b"b").await, "not denied");
    two.revoke(ann);
    written(&redis, 10).await;
    let five = frontend(&redis).await;
    assert_eq!(sees(&five, ann, b"b").await, None);
}

#[tokio::test]
async fn what_the_service_said_here_is_not_replaced_by_what_others_share() {
    let redis = FakeRedis::start();
    let (one, two) = (frontend(&redis).await, frontend(&redis).await);
    let ann = principal("user=ann");
    one.tell_name(ann, b"a", true, Instant::now());
    one.tell_all(ann, &split(), &[true; 3], Instant::now());
    written(&redis, 2).await;
    // Never reaches Redis.
    redis.set_fault(Fault::Down);
    two.tell_name(ann, b"a", false, Instant::now());
    redis.set_fault(Fault::None);
    let third = frontend(&redis).await;
    assert_eq!(sees(&third, ann, b"a").await, Some(true));
    assert_eq!(sees_all(&third, ann).await, Some(vec![true; 3]));
    assert_eq!(sees(&third, ann, b"a").await, None, "all names are known");
    for _ in 0..3 {
        assert_ne!(sees(&two, ann, b"a").await, Some(true));
        assert_eq!(sees_all(&two, ann).await, None);
    }
}

#[test]
fn places_are_unpacked_as_they_were_packed() {
    for count in [0, 1, 7, 8, 9, 100] {
        let places: Vec<bool> = (0..count).map(|place| place % 3 == 1).collect();
        let bytes = packed(&places);
        assert_eq!(unpacked(&bytes, count).as_ref(), Some(&places));
        assert_eq!(unpacked(&bytes, count + 1), None);
        assert_eq!(unpacked(&bytes[..bytes.len() - 1], count), None);
        assert_eq!(unpacked(&[&bytes[..], &[0]].concat(), count), None);
    }
    assert_eq!(unpacked(&[], 0), None);
}

const S: Duration = Duration::from_secs(1);

fn item(number: usize) -> [u8; 16] {
    (number as u128).to_le_bytes()
}

#[test]
fn an_item_is_remembered_for_a_minute_and_not_for_ever() {
    for start in [0, 1, 59, 61, 1000] {
        let mut heard = Heard::default();
        let noted = S * start;
        heard.note(item(1), noted);
        assert!(heard.has(&item(1), noted + 60 * S), "{start}");
        assert!(!heard.has(&item(2), noted + 60 * S), "{start}");
        assert!(!heard.has(&item(1), noted + 121 * S), "{start}");
    }
}

#[test]
fn when_too_much_was_heard_nothing_is_taken_for_a_minute() {
    let mut heard = Heard::default();
    (0..=ITEMS_MAX).for_each(|number| heard.note(item(number), S));
    assert!(heard.current.len() <= ITEMS_MAX);
    for number in [0, ITEMS_MAX, ITEMS_MAX + 7] {
        assert!(heard.has(&item(number), 60 * S), "{number}");
    }
    assert!(!heard.has(&item(0), 62 * S));
}
