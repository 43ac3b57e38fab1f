//! Who may do what: passwords (argon2), sessions, tokens, and a brake on guessing.
//!
//! Without a password file everybody is a referee; then the program listens on this computer alone. With one, a password
//! opens a session for twelve hours; programs send it as a bearer token. Sessions are forgotten when the program ends.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use argon2::Argon2;
use argon2::password_hash::rand_core::{OsRng, RngCore};
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

/// How long a session lasts.
pub const SESSION: Duration = Duration::from_secs(12 * 3600);
/// Wrong passwords from one address before it has to wait.
const TRIES: u32 = 5;
/// How long it has to wait.
const BRAKE: Duration = Duration::from_secs(60);
/// Sessions and addresses that are remembered at most.
const MOST: usize = 10_000;
/// Longest password that is tried, bytes: a longer one is only work.
const LONGEST: usize = 256;

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Look.
    Viewer,
    /// Look and decide.
    Referee,
}

impl Role {
    /// As written in a password file.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Referee => "referee",
        }
    }
}

/// Why a password file is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordFileError {
    /// A line is not as it should be.
    #[error(
        "line {line} is not ROLE:HASH, with role viewer or referee and a hash as `crokeye serve --hash-password` prints it"
    )]
    Line {
        /// Which line, from 1.
        line: usize,
    },
    /// Nobody could decide anything.
    #[error("no line gives the role referee")]
    NoReferee,
}

/// Why nobody is let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Wrong.
    Wrong,
    /// Too many wrong ones: wait so long.
    Wait(Duration),
}

type Key = [u8; 32];

/// Who may do what.
#[derive(Debug)]
pub struct Access {
    /// None: everybody may do everything.
    passwords: Option<Vec<(Role, String)>>,
    sessions: Mutex<HashMap<Key, (Role, Instant)>>,
    tries: Mutex<HashMap<IpAddr, (u32, Instant)>>,
    /// Hashing is meant to be work: only so much of it at once.
    work: Semaphore,
}

impl Access {
    /// Everybody may do everything.
    pub fn open() -> Arc<Self> {
        Self::with(None)
    }

    /// From the text of a password file: a line a password, `ROLE:HASH`.
    ///
    /// # Errors
    /// See [`PasswordFileError`].
    pub fn from_file(text: &str) -> Result<Arc<Self>, PasswordFileError> {
        let mut passwords = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        {
            let wrong = PasswordFileError::Line { line: at + 1 };
            let Some((role, hash)) = line.trim().split_once(':') else { return Err(wrong) };
            let role = [Role::Viewer, Role::Referee].into_iter().find(|known| known.name() == role.trim());
            let (Some(role), Ok(_)) = (role, PasswordHash::new(hash.trim())) else { return Err(wrong) };
            passwords.push((role, hash.trim().to_owned()));
        }
        if passwords.iter().all(|(role, _)| *role != Role::Referee) {
            return Err(PasswordFileError::NoReferee);
        }
        Ok(Self::with(Some(passwords)))
    }

    fn with(passwords: Option<Vec<(Role, String)>>) -> Arc<Self> {
        Arc::new(Self { passwords, sessions: Mutex::default(), tries: Mutex::default(), work: Semaphore::new(2) })
    }

    /// Is there no password at all?
    pub fn is_open(&self) -> bool {
        self.passwords.is_none()
    }

    /// The role of who shows this session or token.
    pub fn role(&self, session: &str) -> Option<Role> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(&key(session)).filter(|(_, until)| *until > Instant::now()).map(|(role, _)| *role)
    }

    /// Tries a password; opens a session for who knows it.
    ///
    /// # Errors
    /// It is wrong, or there were too many wrong ones from this address.
    pub async fn log_in(self: &Arc<Self>, password: &str, from: IpAddr) -> Result<(String, Role), Refused> {
        let role = self.check(password, from).await?;
        let mut bytes = [0; 32];
        OsRng.fill_bytes(&mut bytes);
        let session: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.remember(&session, role);
        Ok((session, role))
    }

    /// Tries a token that was not seen before: it is remembered, so that the next request costs nothing.
    ///
    /// # Errors
    /// As [`Access::log_in`].
    pub async fn token(self: &Arc<Self>, token: &str, from: IpAddr) -> Result<Role, Refused> {
        if let Some(role) = self.role(token) {
            return Ok(role);
        }
        let role = self.check(token, from).await?;
        self.remember(token, role);
        Ok(role)
    }

    /// Forgets a session.
    pub fn log_out(&self, session: &str) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(&key(session));
    }

    async fn check(self: &Arc<Self>, password: &str, from: IpAddr) -> Result<Role, Refused> {
        self.brake(from)?;
        let role = match self.work.acquire().await {
            Ok(_held) if password.len() <= LONGEST => {
                let (access, password) = (Arc::clone(self), password.to_owned());
                tokio::task::spawn_blocking(move || access.known(&password)).await.ok().flatten()
            }
            _ => None,
        };
        if let Some(role) = role {
            self.tries.lock().unwrap_or_else(PoisonError::into_inner).remove(&from);
            return Ok(role);
        }
        Err(Refused::Wrong)
    }

    /// Counts a try before it is made, so that many at once count as many.
    fn brake(&self, from: IpAddr) -> Result<(), Refused> {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        if tries.len() >= MOST {
            tries.retain(|_, (_, since)| since.elapsed() < BRAKE);
        }
        let (count, since) = tries.entry(from).or_insert((0, Instant::now()));
        if since.elapsed() >= BRAKE {
            (*count, *since) = (0, Instant::now());
        }
        if *count >= TRIES {
            return Err(Refused::Wait(BRAKE.saturating_sub(since.elapsed())));
        }
        *count += 1;
        Ok(())
    }

    /// The highest role of this password. All lines are tried: how long it takes does not tell which one fits.
    fn known(&self, password: &str) -> Option<Role> {
        let passwords = self.passwords.as_deref().unwrap_or_default();
        let fits = |hash: &str| {
            PasswordHash::new(hash)
                .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
        };
        passwords.iter().filter(|(_, hash)| fits(hash)).map(|(role, _)| *role).max()
    }

    fn remember(&self, session: &str, role: Role) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if sessions.len() >= MOST {
            sessions.retain(|_, (_, until)| *until > now);
        }
        if sessions.len() >= MOST {
            sessions.clear();
        }
        sessions.insert(key(session), (role, now + SESSION));
    }
}

/// Sessions are kept by their hash: finding one takes no longer the more of it is right.
fn key(session: &str) -> Key {
    Sha256::digest(session).into()
}

/// A password as it stands in a password file.
///
/// # Errors
/// The hash cannot be made.
pub fn hash(password: &str) -> Result<String, argon2::password_hash::Error> {
    let salt = SaltString::generate(&mut OsRng);
    Ok(Argon2::default().hash_password(password.as_bytes(), &salt)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[tokio::test]
    async fn a_password_opens_its_role_and_guessing_is_braked() {
        let file = format!("# hall\nreferee:{}\nviewer:{}\n", hash("tap in").unwrap(), hash("look").unwrap());
        let access = Access::from_file(&file).unwrap();
        let (session, role) = access.log_in("tap in", HOME).await.unwrap();
        assert_eq!((role, access.role(&session)), (Role::Referee, Some(Role::Referee)));
        assert_eq!(access.token("look", HOME).await, Ok(Role::Viewer));
        access.log_out(&session);
        assert_eq!(access.role(&session), None);
        for _ in 0..TRIES {
            assert_eq!(access.log_in("guess", HOME).await, Err(Refused::Wrong));
        }
        assert!(matches!(access.log_in("tap in", HOME).await, Err(Refused::Wait(_))));
        assert!(access.log_in("tap in", "10.0.0.1".parse().unwrap()).await.is_ok());
    }

    #[test]
    fn a_password_file_says_roles_and_hashes() {
        let hash = hash("x").unwrap();
        let error = |text: &str| Access::from_file(text).unwrap_err();
        assert_eq!(error("referee:plain"), PasswordFileError::Line { line: 1 });
        assert_eq!(error(&format!("# x\n\nking:{hash}")), PasswordFileError::Line { line: 3 });
        assert_eq!(error(&format!("viewer:{hash}")), PasswordFileError::NoReferee);
        assert_eq!(error(""), PasswordFileError::NoReferee);
    }
}
