//! The signature of a webhook, as the Standard Webhooks specification (1.0) has it: HMAC-SHA256 with a shared secret over
//! `ID.TIMESTAMP.BODY`, in base64 after `v1,`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// What a secret in base64 begins with.
const PREFIX: &str = "whsec_";

/// A secret's key: what follows `whsec_` in base64, else the text itself.
///
/// # Errors
/// What follows is no base64.
pub(super) fn key(secret: &str) -> Result<Vec<u8>, String> {
    match secret.strip_prefix(PREFIX) {
        Some(text) => STANDARD.decode(text).map_err(|_| format!("what follows {PREFIX} is not base64")),
        None => Ok(secret.as_bytes().to_vec()),
    }
}

/// The value of the header `webhook-signature`.
pub(super) fn sign(key: &[u8], id: &str, timestamp_secs: i64, body: &str) -> String {
    // HMAC takes a key of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    for part in [id, ".", &timestamp_secs.to_string(), ".", body] {
        mac.update(part.as_bytes());
    }
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn a_signature_is_the_one_that_others_compute() {
        let key = key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = sign(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_is_a_text_or_base64() {
        assert_eq!(key("hush"), Ok(b"hush".to_vec()));
        assert_eq!(key("whsec_aHVzaA=="), Ok(b"hush".to_vec()));
        assert!(key("whsec_?").is_err());
    }
}
