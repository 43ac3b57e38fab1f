//! What the configuration says about connectors: the tables `[[webhook]]`, `[croki]` and `[mqtt]`.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Something that nobody else should read: itself, or where it is read from. It is written as it is: who shows a
/// configuration leaves it out.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a text, or { file = \"PATH\" }, or { env = \"NAME\" }")]
pub enum Secret {
    /// The secret itself.
    Text(String),
    /// The first line of a file.
    File {
        /// Which file.
        file: PathBuf,
    },
    /// A variable of the environment.
    Env {
        /// Which variable.
        env: String,
    },
}

/// Why a secret is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read.
    #[error("{file} cannot be read: {source}")]
    File {
        /// Which file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The variable is not set.
    #[error("the variable {0} is not set in the environment")]
    Unset(String),
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
}

impl Secret {
    /// The secret.
    ///
    /// # Errors
    /// See [`SecretError`].
    pub fn read(&self) -> Result<String, SecretError> {
        let text = match self {
            Self::Text(text) => text.clone(),
            Self::File { file } => {
                let text = std::fs::read_to_string(file);
                let text = text.map_err(|source| SecretError::File { file: file.clone(), source })?;
                text.lines().next().unwrap_or_default().to_owned()
            }
            Self::Env { env } => std::env::var(env).map_err(|_| SecretError::Unset(env.clone()))?,
        };
        let text = text.trim().to_owned();
        if text.is_empty() { Err(SecretError::Empty) } else { Ok(text) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => out.write_str("(not shown)"),
            Self::File { file } => write!(out, "file {}", file.display()),
            Self::Env { env } => write!(out, "variable {env}"),
        }
    }
}

/// All connectors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Programs that are sent what happens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub webhook: Vec<Webhook>,
    /// The laptop of a Dutch championship.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub croki: Option<Croki>,
    /// A broker of messages, such as a home's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mqtt: Option<Mqtt>,
}

/// A program that is sent what happens: a `[[webhook]]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// What it is called here; what it was told is remembered under this name.
    pub name: String,
    /// Where to.
    pub url: String,
    /// Which kinds of events; see [`super::webhook::KINDS`].
    #[serde(default = "matches")]
    pub events: Vec<String>,
    /// What it is signed with; unsigned without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
}

fn matches() -> Vec<String> {
    vec!["match".to_owned()]
}

/// The laptop of a Dutch championship: `[croki]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Croki {
    /// The laptop, such as `http://192.168.1.10:8000`.
    pub url: String,
    /// What it knows this camera by.
    pub api_key: Secret,
    /// What the scores are said to come from.
    #[serde(default = "crokeye")]
    pub source: String,
}

/// A broker: `[mqtt]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mqtt {
    /// Its name or address.
    pub host: String,
    /// Its port; else 1883, or 8883 with TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Is it spoken to through TLS? Its certificate must be one that this computer trusts.
    #[serde(default)]
    pub tls: bool,
    /// Who we are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The password that goes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<Secret>,
    /// What our topics begin with, and what this program is called there.
    #[serde(default = "crokeye")]
    pub prefix: String,
    /// What topics of Home Assistant's discovery begin with; empty: there is none.
    #[serde(default = "homeassistant")]
    pub discovery: String,
}

fn crokeye() -> String {
    "crokeye".to_owned()
}

fn homeassistant() -> String {
    "homeassistant".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_come_from_texts_files_and_the_environment_and_are_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, "  hush\nmore").unwrap();
        let text = format!(
            "webhook = [{{ name = \"hall\", url = \"http://127.0.0.1/\", secret = {{ file = {file:?} }} }}]\n\
             [croki]\nurl = \"http://127.0.0.1/\"\napi_key = \"whisper\"\n\
             [mqtt]\nhost = \"127.0.0.1\"\npassword = {{ env = \"CROKEYE_TEST_NOT_SET\" }}"
        );
        let settings: Settings = toml::from_str(&text).unwrap();
        let (hook, croki, mqtt) =
            (&settings.webhook[0], settings.croki.clone().unwrap(), settings.mqtt.clone().unwrap());
        assert_eq!(hook.secret.as_ref().unwrap().read().unwrap(), "hush");
        assert_eq!(croki.api_key.read().unwrap(), "whisper");
        assert!(matches!(mqtt.password.unwrap().read(), Err(SecretError::Unset(_))));
        let shown = format!("{settings:?}");
        assert!(!shown.contains("hush") && !shown.contains("whisper"), "{shown}");
        assert!(shown.contains("CROKEYE_TEST_NOT_SET"));
        assert_eq!(toml::from_str::<Settings>(&toml::to_string(&settings).unwrap()).unwrap(), settings);
    }

    #[test]
    fn what_is_misspelt_is_told() {
        for text in ["[mqtt]\nhost = \"x\"\nprot = 1", "[croki]\nurl = \"x\"", "[[webhook]]\nname = \"x\"\nurl = 7"] {
            assert!(toml::from_str::<Settings>(text).is_err(), "{text}");
        }
        let wrong = toml::from_str::<Settings>("[croki]\nurl = \"x\"\napi_key = 7").unwrap_err().to_string();
        assert!(wrong.contains("a text, or { file"), "{wrong}");
    }
}
