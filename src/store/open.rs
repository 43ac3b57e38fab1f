//! Opening a database: whose file it is, whether it can be written, what is done where there is none.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection as _, Row, SqlSafeStr, SqliteConnection};

use super::rows::Connection;
use super::{Store, StoreError};

/// The layouts, oldest first. A migration once released is never changed; a new layout appends one.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "log", include_str!("migrations/0001_log.sql")),
    (2, "played", include_str!("migrations/0002_played.sql")),
    (3, "receiver", include_str!("migrations/0003_receiver.sql")),
    (4, "setup", include_str!("migrations/0004_setup.sql")),
];

/// How long a writer waits for another one.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A writer's pause before it tries again, where SQLite does not wait by itself.
const PAUSE: Duration = Duration::from_millis(50);

/// Marks the file as ours: "crok" in ASCII.
const APPLICATION_ID: i64 = 0x6372_6f6b;

/// What a database is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Writing; where there is no database, one is made.
    Create,
    /// Writing into a database that is there.
    Write,
    /// Reading, also where nothing can be written.
    Read,
    /// As [`Purpose::Read`], without the check at the start: to examine a database or save what can be read.
    Rescue,
}

impl Purpose {
    fn writes(self) -> bool {
        matches!(self, Purpose::Create | Purpose::Write)
    }
}

/// A database seen through a connection that cannot change it.
struct Seen {
    /// How it can be read.
    options: SqliteConnectOptions,
    /// Its layout; none while nothing is in the file.
    layout: Option<i64>,
}

impl Store {
    /// Opens a database to write, making it where there is none: [`Store::open_for`] with [`Purpose::Create`].
    ///
    /// # Errors
    /// The file is somebody else's, newer than this program, damaged, or cannot be written.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_for(path, Purpose::Create).await
    }

    /// Opens a database, bringing its layout up to date, and checking it. Nothing is changed before the file is known to be
    /// ours and not newer than this program.
    ///
    /// # Errors
    /// There is none, it is somebody else's, newer than this program, damaged, or cannot be written and should be.
    pub async fn open_for(path: &Path, purpose: Purpose) -> Result<Self, StoreError> {
        let path = place(path, purpose)?;
        let began = Instant::now();
        let pool = loop {
            match Self::connect(&path, purpose).await {
                // Programs that make a database at once get in each other's way, and SQLite does not always wait.
                Err(error) if error.is_busy() && began.elapsed() < BUSY_TIMEOUT => tokio::time::sleep(PAUSE).await,
                pool => break pool.map_err(|error| error.of(&path))?,
            }
        };
        let store = Self { pool, path };
        if purpose != Purpose::Rescue {
            store.check_quickly().await.map_err(|error| error.of(&store.path))?;
        }
        Ok(store)
    }

    async fn connect(path: &Path, purpose: Purpose) -> Result<SqlitePool, StoreError> {
        let seen = see(path, purpose).await?;
        let known = newest();
        match seen.layout {
            None if purpose != Purpose::Create => return Err(StoreError::NoDatabase(path.to_owned())),
            Some(found) if found > known => return Err(StoreError::Newer { path: path.to_owned(), found, known }),
            _ => {}
        }
        let writable = options(path);
        if !purpose.writes() && seen.layout == Some(known) {
            // A connection that may write tidies up behind itself: the other kind is for where that cannot be.
            return match readable(writable).await {
                Err(error) if error.forbids_writing() => pooled(seen.options).await,
                pool => pool,
            };
        }
        if seen.layout.is_none() {
            mark(path, &writable).await?;
        }
        let pool = pooled(writable.journal_mode(SqliteJournalMode::Wal)).await?;
        migrate(&pool).await?;
        Ok(pool)
    }
}

/// Where the database really lies: its photos lie there too, however it was named. An absolute path is never taken for one
/// of SQLite's URIs.
fn place(path: &Path, purpose: Purpose) -> Result<PathBuf, StoreError> {
    let failed = |path: &Path, source| StoreError::File { path: path.to_owned(), source };
    match path.canonicalize() {
        Ok(place) => return Ok(place),
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => return Err(failed(path, source)),
        Err(_) if purpose != Purpose::Create => return Err(StoreError::NoDatabase(path.to_owned())),
        Err(_) => {}
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    }
    // An empty file is an empty database.
    let made = std::fs::OpenOptions::new().append(true).create(true).open(path);
    made.and_then(|_| path.canonicalize()).map_err(|source| failed(path, source))
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
}

async fn pooled(options: SqliteConnectOptions) -> Result<SqlitePool, StoreError> {
    // A full disk makes SQLite end a transaction by itself; sqlx then counts one too many on that connection for good.
    let pool = SqlitePoolOptions::new().max_connections(4).after_release(|connection, _| {
        Box::pin(async move {
            // Waits for the rollback that the end of an unfinished transaction has sent.
            connection.ping().await?;
            Ok(!connection.is_in_transaction())
        })
    });
    Ok(pool.connect_with(options).await?)
}

/// A pool that has proved that it can read.
async fn readable(options: SqliteConnectOptions) -> Result<SqlitePool, StoreError> {
    let pool = pooled(options).await?;
    sqlx::query("SELECT 1 FROM sqlite_master").fetch_optional(&pool).await?;
    Ok(pool)
}

/// Looks at a file and changes nothing, neither in it nor beside it unless it is ours.
async fn see(path: &Path, purpose: Purpose) -> Result<Seen, StoreError> {
    let readable = options(path).read_only(true);
    let still = readable.clone().immutable(true);
    if is_strangers(path).map_err(|source| StoreError::File { path: path.to_owned(), source })? {
        return look(path, still, purpose).await;
    }
    match look(path, readable, purpose).await {
        // Where SQLite cannot put the files it reads with, it can do without, if the database is all in one file.
        Err(error) if error.forbids_writing() && !log_beside(path) => look(path, still, purpose).await,
        seen => seen,
    }
}

/// Is this a database with a write-ahead log that nobody has open, and not ours? SQLite would leave files beside it.
fn is_strangers(path: &Path) -> std::io::Result<bool> {
    /// SQLite's header up to the application's mark.
    const HEADER: u64 = 72;
    let mut header = Vec::new();
    std::fs::File::open(path)?.take(HEADER).read_to_end(&mut header)?;
    // The mark is set before the log is.
    let with_log = header.get(18..20) == Some(&[2, 2]);
    let ours = header
        .get(68..72)
        .is_some_and(|mark| mark.iter().fold(0, |id, byte| id << 8 | i64::from(*byte)) == APPLICATION_ID);
    Ok(with_log && !ours && !log_beside(path))
}

/// Does a write-ahead log with something in it lie beside the database?
fn log_beside(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    std::fs::metadata(name).is_ok_and(|log| log.len() > 0)
}

async fn look(path: &Path, options: SqliteConnectOptions, purpose: Purpose) -> Result<Seen, StoreError> {
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let seen = async {
        let mut tx = connection.begin().await?;
        if is_empty(path, &mut tx).await? {
            return Ok(None);
        }
        match layout(&mut tx).await.map_err(|error| error.of(path)) {
            // What can be read of the rest is worth having.
            Err(StoreError::Damaged { .. }) if purpose == Purpose::Rescue => Ok(Some(newest())),
            layout => layout.map(Some),
        }
    };
    let layout = seen.await;
    connection.close().await?;
    Ok(Seen { options, layout: layout? })
}

/// Marks an empty database as ours.
async fn mark(path: &Path, options: &SqliteConnectOptions) -> Result<(), StoreError> {
    let mut connection = SqliteConnection::connect_with(options).await?;
    let mut tx = connection.begin_with("BEGIN IMMEDIATE").await?;
    // Another program may have made it meanwhile.
    if is_empty(path, &mut tx).await? {
        let mark = format!("PRAGMA application_id = {APPLICATION_ID}");
        sqlx::query(AssertSqlSafe(mark)).execute(&mut *tx).await?;
    }
    tx.commit().await?;
    connection.close().await?;
    Ok(())
}

/// Is nothing in the database? Refuses one that holds what is not ours.
async fn is_empty(path: &Path, connection: &mut Connection) -> Result<bool, StoreError> {
    let id: i64 = sqlx::query("PRAGMA application_id").fetch_one(&mut *connection).await?.try_get(0)?;
    let tables = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let tables: i64 = sqlx::query(tables).fetch_one(connection).await?.try_get(0)?;
    match (id, tables) {
        (0, 0) => Ok(true),
        (APPLICATION_ID, _) => Ok(false),
        _ => {
            let reason = "it holds tables of another program".to_owned();
            Err(StoreError::Foreign { path: path.to_owned(), reason })
        }
    }
}

/// Number of the newest layout applied.
pub(super) async fn layout(connection: &mut Connection) -> Result<i64, StoreError> {
    let there = "SELECT 1 FROM sqlite_master WHERE name = '_sqlx_migrations'";
    if sqlx::query(there).fetch_optional(&mut *connection).await?.is_none() {
        return Ok(0);
    }
    let row = sqlx::query("SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations").fetch_one(connection).await?;
    Ok(row.try_get(0)?)
}

/// Number of the newest layout known here.
fn newest() -> i64 {
    MIGRATIONS.last().map_or(0, |(version, ..)| *version)
}

/// Brings the layout up to date. Two programs that make a new database at once get in each other's way: the one that comes
/// second finds the work done when it looks again.
async fn migrate(pool: &SqlitePool) -> Result<(), StoreError> {
    let all = MIGRATIONS.iter().map(|(version, name, sql)| {
        Migration::new(*version, (*name).into(), MigrationType::Simple, AssertSqlSafe(*sql).into_sql_str(), false)
    });
    let migrator = Migrator::with_migrations(all.collect());
    /// Longest the other one is waited for.
    const WAIT: Duration = Duration::from_secs(2);
    let began = Instant::now();
    loop {
        match migrator.run(pool).await {
            Ok(()) => return Ok(()),
            Err(_) if began.elapsed() < WAIT => tokio::time::sleep(PAUSE).await,
            Err(error) => return Err(error.into()),
        }
    }
}
