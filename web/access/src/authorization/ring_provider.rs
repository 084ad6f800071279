//! Verifies signatures of tokens with ring: RS256, ES256 and EdDSA.
//!
//! **Invariant:** without HMAC, a public key is never taken for a shared secret.

use jsonwebtoken::crypto::{CryptoProvider, JwkUtils, JwtSigner, JwtVerifier};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};

pub(super) fn install() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: no_signer,
        verifier_factory: verifier,
        jwk_utils: JwkUtils::new_unimplemented(),
    };
    // Installed before.
    let _ = PROVIDER.install_default();
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(ErrorKind::InvalidAlgorithm.into())
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
                verify_with(&ECDSA_P256_SHA256_FIXED, point, message, sent)
            }
            (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(key)) => {
                verify_with(&ED25519, key, message, sent)
            }
            _ => return Err(signature::Error::new()),
        };
        is_valid.map_err(|_| signature::Error::new())
    }
}

fn verify_with(
    algorithm: &'static dyn VerificationAlgorithm,
    key: &[u8],
    message: &[u8],
    sent: &[u8],
) -> Result<(), ring::error::Unspecified> {
    UnparsedPublicKey::new(algorithm, key).verify(message, sent)
}
