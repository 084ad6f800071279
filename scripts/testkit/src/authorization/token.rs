//! Signs tokens and publishes the public keys.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use std::time::UNIX_EPOCH;

pub struct Signer {
    id: String,
    key: SigningKey,
}

enum SigningKey {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
}

impl Signer {
    /// New EdDSA key.
    pub fn ed25519(id: &str) -> Signer {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("randomness");
        let key = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("a new key");
        Signer {
            id: id.to_owned(),
            key: SigningKey::Ed25519(key),
        }
    }

    /// New ES256 key.
    pub fn p256(id: &str) -> Signer {
        let (kind, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(kind, &random).expect("randomness");
        let key = EcdsaKeyPair::from_pkcs8(kind, pkcs8.as_ref(), &random).expect("a new key");
        Signer {
            id: id.to_owned(),
            key: SigningKey::P256(key),
        }
    }

    /// Public key for a JSON Web Key Set.
    pub fn public(&self) -> Value {
        let id = &self.id;
        match &self.key {
            SigningKey::Ed25519(key) => {
                let x = BASE64.encode(key.public_key());
                json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": x})
            }
            SigningKey::P256(key) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                let (x, y) = (BASE64.encode(x), BASE64.encode(y));
                json!({"kty": "EC", "crv": "P-256", "kid": id, "x": x, "y": y, "use": "sig"})
            }
        }
    }

    pub fn sign(&self, claims: &Value) -> String {
        let alg = match self.key {
            SigningKey::Ed25519(_) => "EdDSA",
            SigningKey::P256(_) => "ES256",
        };
        self.sign_with(&json!({"alg": alg, "typ": "JWT", "kid": self.id}), claims)
    }

    pub fn sign_with(&self, header: &Value, claims: &Value) -> String {
        let [header, claims] = [header, claims].map(|part| BASE64.encode(part.to_string()));
        let message = format!("{header}.{claims}");
        let signature = match &self.key {
            SigningKey::Ed25519(key) => BASE64.encode(key.sign(message.as_bytes())),
            SigningKey::P256(key) => {
                let signed = key.sign(&SystemRandom::new(), message.as_bytes());
                BASE64.encode(signed.expect("randomness"))
            }
        };
        format!("{message}.{signature}")
    }
}

pub fn claims(globs: &[&str], expires_in_s: i64) -> Value {
    let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs() as i64;
    json!({"sub": "somebody", "exp": now + expires_in_s, "repositories": globs})
}
