//! Public keys that verify tokens (a JSON Web Key Set), and the verification with ring.
//!
//! The key determines the algorithm, not the token: RSA is RS256, P-256 is ES256, Ed25519 is EdDSA.
//! Other kinds, such as shared secrets, are ignored.
//!
//! **Invariant:** without HMAC, a public key is never taken for a shared secret.

use jsonwebtoken::crypto::{CryptoProvider, JwkUtils, JwtVerifier};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;

const KEYS_MAX: usize = 100;

pub(super) const SET_BYTES_MAX: usize = 256 << 10;

#[derive(Clone)]
pub(super) struct PublicKey {
    id: Option<String>,
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

#[derive(Clone)]
pub(super) struct KeySet(Vec<PublicKey>);

#[derive(Deserialize)]
struct Listed {
    keys: Vec<Value>,
}

impl KeySet {
    /// Fails without a usable key.
    pub(super) fn parse(bytes: &[u8]) -> Result<KeySet, String> {
        if bytes.len() > SET_BYTES_MAX {
            return Err(format!("more than {SET_BYTES_MAX} bytes"));
        }
        let listed: Listed = serde_json::from_slice(bytes).map_err(|error| {
            format!("expected a JSON Web Key Set, {{\"keys\": [...]}}: {error}")
        })?;
        if listed.keys.len() > KEYS_MAX {
            return Err(format!(
                "{} keys; at most {KEYS_MAX} are read",
                listed.keys.len()
            ));
        }
        let keys = listed.keys.into_iter().filter_map(public_key);
        let keys: Vec<_> = keys.collect();
        if keys.is_empty() {
            return Err("no key for RS256, ES256 or EdDSA".to_owned());
        }
        Ok(KeySet(keys))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Finds the only key if there is no id.
    pub(super) fn find(&self, id: Option<&str>) -> Option<&PublicKey> {
        match (id, &self.0[..]) {
            (Some(_), keys) => keys.iter().find(|key| key.id.as_deref() == id),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }
}

fn public_key(value: Value) -> Option<PublicKey> {
    let jwk: Jwk = serde_json::from_value(value).ok()?;
    let (algorithm, named) = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
            (Algorithm::ES256, KeyAlgorithm::ES256)
        }
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
            (Algorithm::EdDSA, KeyAlgorithm::EdDSA)
        }
        _ => return None,
    };
    let is_for_signatures = matches!(
        jwk.common.public_key_use,
        None | Some(PublicKeyUse::Signature)
    );
    let is_named = jwk.common.key_algorithm.is_none_or(|other| other == named);
    let key = DecodingKey::from_jwk(&jwk).ok()?;
    (is_for_signatures && is_named).then_some(PublicKey {
        id: jwk.common.key_id,
        algorithm,
        key,
    })
}

pub(super) fn install() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: |_, _| Err(ErrorKind::InvalidAlgorithm.into()),
        verifier_factory: verifier,
        jwk_utils: JwkUtils::new_unimplemented(),
    };
    // Installed before.
    let _ = PROVIDER.install_default();
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    Ok(Box::new(RingVerifier {
        algorithm: *algorithm,
        key: key.clone(),
    }))
}

struct RingVerifier {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], sent: &Vec<u8>) -> Result<(), signature::Error> {
        let is_valid = match (self.algorithm, self.key.kind()) {
            (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                let key = RsaPublicKeyComponents { n, e };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, sent)
            }
            (Algorithm::ES256, DecodingKeyKind::SecretOrDer(point)) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, sent)
            }
            (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(&ED25519, key).verify(message, sent)
            }
            _ => return Err(signature::Error::new()),
        };
        is_valid.map_err(|_| signature::Error::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ED: &str = r#"{"kty": "OKP", "crv": "Ed25519", "kid": "a", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

    #[test]
    fn keys_of_other_kinds_are_left_out() {
        let secret = r#"{"kty": "oct", "kid": "s", "k": "c2VjcmV0"}"#;
        let encryption = ED.replace("\"kid\"", "\"use\": \"enc\", \"kid\"");
        let another = ED.replace("\"kid\"", "\"alg\": \"RS256\", \"kid\"");
        let unknown = r#"{"kty": "new", "kid": "n"}"#;
        let set = format!("{{\"keys\": [{secret}, {ED}, {encryption}, {another}, {unknown}, 1]}}");
        let set = KeySet::parse(set.as_bytes()).unwrap();
        assert_eq!(set.len(), 1);
        assert!(set.find(Some("a")).is_some() && set.find(None).is_some());
        assert!(set.find(Some("s")).is_none());
    }

    #[test]
    fn sets_without_a_usable_key_are_refused() {
        for bad in [
            "",
            "[]",
            "{}",
            "{\"keys\": []}",
            "{\"keys\": [1]}",
            "{\"keys\": {}}",
        ] {
            assert!(KeySet::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        let many = format!("{{\"keys\": [{}]}}", vec![ED; KEYS_MAX + 1].join(","));
        assert!(
            KeySet::parse(many.as_bytes())
                .err()
                .unwrap()
                .contains("at most 100")
        );
        assert!(KeySet::parse(&vec![b' '; SET_BYTES_MAX + 1]).is_err());
    }
}
