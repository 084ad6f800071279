use super::*;
use rustls::RootCertStore;
use serde_json::json;
use std::path::PathBuf;
use testkit::authorization::{Signer, claims};

/// A token for `lib*` until the year 3000, and the key that signed it.
const RS256: &str = include_str!("../../../testdata/tokens/rs256.jwt");
const RS256_KEY: &str = include_str!("../../../testdata/tokens/rs256.json");

struct Issuer {
    directory: tempfile::TempDir,
    tokens: Tokens,
    runtime: tokio::runtime::Runtime,
}

fn set(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}

fn client() -> HttpClient {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider);
    let tls = tls.with_safe_default_protocol_versions().unwrap();
    let tls = tls.with_root_certificates(RootCertStore::empty());
    HttpClient::new(tls.with_no_client_auth())
}

fn rules(claim: &str) -> TokenRules {
    TokenRules {
        claim: claim.to_owned(),
        ..TokenRules::default()
    }
}

impl Issuer {
    fn new(keys: &[Value]) -> Issuer {
        Issuer::with_rules(keys, |_| {})
    }

    fn with_rules(keys: &[Value], change: impl FnOnce(&mut TokenRules)) -> Issuer {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("keys.json");
        fs::write(&file, set(keys)).unwrap();
        let mut rules = rules("repositories");
        change(&mut rules);
        let tokens = Tokens::new(KeyPlace::File(file), rules, client()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        Issuer {
            directory,
            tokens,
            runtime,
        }
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("keys.json")
    }

    fn verify(&self, token: &str) -> Result<Arc<Verified>, Refusal> {
        self.runtime.block_on(self.tokens.verify(token.as_bytes()))
    }

    fn refuses(&self, token: &str) -> String {
        match self.verify(token) {
            Err(Refusal::BadToken(reason)) => reason,
            other => panic!("{:?}", other.err()),
        }
    }
}

#[test]
fn tokens_of_each_algorithm_let_see_what_their_globs_match() {
    let (ed, p256) = (Signer::ed25519("ed"), Signer::p256("p256"));
    let rsa = serde_json::from_str(RS256_KEY).unwrap();
    let issuer = Issuer::new(&[ed.public(), p256.public(), rsa]);
    let claims = claims(&["lib*"], 100);
    for token in [
        ed.sign(&claims),
        p256.sign(&claims),
        RS256.trim().to_owned(),
    ] {
        let verified = issuer.verify(&token).unwrap();
        assert!(verified.sees(b"libc") && !verified.sees(b"glib"));
    }
}

#[test]
fn tokens_for_somebody_else_or_of_another_issuer_are_refused_if_that_is_asked_for() {
    let signer = Signer::ed25519("k");
    let token = |audience: Value, issuer: Value| {
        let mut claims = claims(&["*"], 100);
        for (name, value) in [("aud", audience), ("iss", issuer)] {
            if !value.is_null() {
                claims[name] = value;
            }
        }
        signer.sign(&claims)
    };
    let ours = token(json!("trawl"), json!("https://id/"));
    let several = token(json!(["other", "trawl"]), json!("https://id/"));
    let bare = token(Value::Null, Value::Null);
    let other = token(json!("other"), json!("https://id/"));
    let foreign = token(json!("trawl"), json!("https://elsewhere/"));
    let any = Issuer::new(&[signer.public()]);
    for token in [&ours, &several, &bare, &other, &foreign] {
        any.verify(token).unwrap();
    }
    let audience = Issuer::with_rules(&[signer.public()], |it| it.audience = Some("trawl".into()));
    for token in [&ours, &several, &foreign] {
        audience.verify(token).unwrap();
    }
    assert!(audience.refuses(&other).contains("another audience"));
    assert!(audience.refuses(&bare).contains("no claim aud"));
    let issuer = |it: &mut TokenRules| it.issuer = Some("https://id/".into());
    let issuer = Issuer::with_rules(&[signer.public()], issuer);
    for token in [&ours, &other] {
        issuer.verify(token).unwrap();
    }
    assert!(issuer.refuses(&foreign).contains("another issuer"));
    assert!(issuer.refuses(&bare).contains("no claim iss"));
}

#[test]
fn tokens_that_are_not_signed_by_a_known_key_are_refused() {
    let (ours, other) = (Signer::ed25519("ours"), Signer::ed25519("ours"));
    let issuer = Issuer::new(&[ours.public()]);
    let claims = claims(&["**"], 100);
    let good = ours.sign(&claims);
    issuer.verify(&good).unwrap();
    let says = |token: &str, words: &str| {
        let reason = issuer.refuses(token);
        assert!(reason.contains(words), "{token}: {reason}");
    };
    says(&other.sign(&claims), "signature of the token is wrong");
    says(&Signer::p256("theirs").sign(&claims), "unknown key");
    says(&Signer::p256("ours").sign(&claims), "for EdDSA");
    for alg in ["none", "None", "NONE", "nOnE"] {
        let header = json!({"alg": alg, "kid": "ours"});
        says(&ours.sign_with(&header, &claims), "alg: none");
        let (unsigned, _) = good.rsplit_once('.').unwrap();
        let (_, body) = unsigned.split_once('.').unwrap();
        let head = BASE64.encode(header.to_string());
        says(&format!("{head}.{body}."), "alg: none");
    }
    for alg in ["HS256", "HS512", "RS256", "PS256", "ES384", "x", ""] {
        says(
            &ours.sign_with(&json!({"alg": alg, "kid": "ours"}), &claims),
            "for EdDSA",
        );
    }
    let (head, rest) = good.split_once('.').unwrap();
    let (body, sent) = rest.split_once('.').unwrap();
    let more = BASE64.encode(json!({"exp": 1e12, "repositories": ["**"]}).to_string());
    says(
        &format!("{head}.{more}.{sent}"),
        "signature of the token is wrong",
    );
    let first = if sent.starts_with('A') { "B" } else { "A" };
    let changed = format!("{head}.{body}.{first}{}", &sent[1..]);
    says(&changed, "signature of the token is wrong");
    for garbage in [
        "",
        ".",
        "..",
        "...",
        "a.b.c",
        "x",
        &good[..good.len() / 2],
        &format!("{good}.x"),
        "\u{e9}.e.e",
    ] {
        says(garbage, "not a signed token");
    }
    says(&"x".repeat(TOKEN_BYTES_MAX + 1), "more than 16384 bytes");
}

#[test]
fn a_public_key_is_never_taken_for_a_shared_secret() {
    let ours = Signer::p256("ours");
    let public = ours.public();
    let issuer = Issuer::new(std::slice::from_ref(&public));
    let x = BASE64.decode(public["x"].as_str().unwrap()).unwrap();
    let y = BASE64.decode(public["y"].as_str().unwrap()).unwrap();
    let [head, body] = [json!({"alg": "HS256", "kid": "ours"}), claims(&["**"], 100)]
        .map(|part| BASE64.encode(part.to_string()));
    let message = format!("{head}.{body}");
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &[&[4], &x[..], &y].concat());
    let tag = BASE64.encode(ring::hmac::sign(&key, message.as_bytes()));
    assert!(
        issuer
            .refuses(&format!("{message}.{tag}"))
            .contains("for ES256")
    );
}

#[test]
fn tokens_are_valid_for_their_time_and_a_minute() {
    let ours = Signer::ed25519("ours");
    let issuer = Issuer::new(&[ours.public()]);
    let with = |change: Value| {
        let mut claims = claims(&["**"], 100);
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        ours.sign(&claims)
    };
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    for good in [
        json!({"exp": now - 50}),
        json!({"nbf": now + 50}),
        json!({"aud": "x"}),
    ] {
        issuer.verify(&with(good)).unwrap();
    }
    assert!(
        issuer
            .refuses(&with(json!({"exp": now - 70})))
            .contains("has expired")
    );
    assert!(
        issuer
            .refuses(&with(json!({"nbf": now + 70})))
            .contains("not valid yet")
    );
    for bad in [json!("x"), Value::Null, json!([]), json!(-1), json!(0)] {
        let reason = issuer.refuses(&with(json!({"exp": bad})));
        assert!(!reason.is_empty(), "{bad}");
    }
    assert!(issuer.verify(&with(json!({"nbf": "soon"}))).is_err());
    let mut without = claims(&["**"], 100);
    without.as_object_mut().unwrap().remove("exp");
    assert!(
        issuer
            .refuses(&ours.sign(&without))
            .contains("no claim exp")
    );
}

#[test]
fn the_claim_must_be_a_list_of_globs() {
    let ours = Signer::ed25519("ours");
    let issuer = Issuer::new(&[ours.public()]);
    let refuses = |value: Value| {
        let mut claims = claims(&[], 100);
        claims["repositories"] = value;
        issuer.refuses(&ours.sign(&claims))
    };
    for bad in [
        json!("**"),
        json!(1),
        json!([1]),
        json!({"a": 1}),
        Value::Null,
    ] {
        assert!(
            refuses(bad.clone()).contains("not a list of globs"),
            "{bad}"
        );
    }
    assert!(refuses(json!(["["])).contains("the claim repositories"));
    let without = json!({"exp": 1e11});
    assert!(
        issuer
            .refuses(&ours.sign(&without))
            .contains("no claim repositories")
    );
    let nothing = issuer.verify(&ours.sign(&claims(&[], 100))).unwrap();
    assert!(!nothing.sees(b"x"));
}

#[test]
fn a_key_that_is_rotated_out_opens_nothing_any_more() {
    let (old, new) = (Signer::ed25519("old"), Signer::ed25519("new"));
    let issuer = Issuer::new(&[old.public()]);
    let [of_old, of_new] = [&old, &new].map(|signer| signer.sign(&claims(&["**"], 100)));
    issuer.verify(&of_old).unwrap();
    assert!(issuer.refuses(&of_new).contains("unknown key"));
    // An unknown key rereads the file. An unusable one changes nothing.
    fs::write(issuer.file(), "{").unwrap();
    assert!(issuer.refuses(&of_new).contains("unknown key"));
    issuer.verify(&of_old).unwrap();
    fs::write(issuer.file(), set(&[old.public(), new.public()])).unwrap();
    issuer.verify(&of_new).unwrap();
    issuer.verify(&of_old).unwrap();
    fs::write(issuer.file(), set(&[new.public()])).unwrap();
    issuer.runtime.block_on(issuer.tokens.refresh());
    assert!(issuer.refuses(&of_old).contains("unknown key"));
    issuer.verify(&of_new).unwrap();
}

#[test]
fn a_token_without_a_key_id_needs_a_set_of_one_key() {
    let (one, two) = (Signer::ed25519("one"), Signer::ed25519("two"));
    let token = one.sign_with(&json!({"alg": "EdDSA"}), &claims(&["**"], 100));
    Issuer::new(&[one.public()]).verify(&token).unwrap();
    let several = Issuer::new(&[one.public(), two.public()]);
    assert!(several.refuses(&token).contains("unknown key"));
}

#[test]
fn files_of_keys_that_cannot_be_used_are_refused_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("keys");
    let open = || {
        let place = KeyPlace::File(file.clone());
        Tokens::new(place, rules("c"), client())
            .err()
            .unwrap()
            .to_string()
    };
    assert!(open().contains("--auth-jwks") && open().contains("No such file"));
    fs::write(&file, "{\"keys\": []}").unwrap();
    assert!(open().contains("no key for RS256"), "{}", open());
}
