//! Evidence by content: photos and counts in a folder beside the database, each under its SHA-256.

use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use sqlx::Row;

use super::{Store, StoreError, hex};
use crate::score::event::Evidence;

impl Store {
    /// Keeps a document and gives what an event names it by. The same bytes are kept once.
    ///
    /// The file is complete and on disk when this returns, so an event can be appended after it and never before.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub async fn keep(
        &self,
        bytes: &[u8],
        kind: &str,
        media_type: &str,
        name: Option<&str>,
        at: Timestamp,
    ) -> Result<Evidence, StoreError> {
        let sha256 = hex(&Sha256::digest(bytes));
        let path = self.evidence_path(&sha256);
        if !holds(&path, bytes.len() as u64) {
            write_whole(&path, bytes)?;
        }
        sqlx::query(
            "INSERT INTO evidence (sha256, media_type, bytes, stored_us) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (sha256) DO NOTHING",
        )
        .bind(&sha256)
        .bind(media_type)
        .bind(i64::try_from(bytes.len()).unwrap_or(i64::MAX))
        .bind(at.as_microsecond())
        .execute(&self.pool)
        .await?;
        Ok(Evidence { sha256, kind: kind.to_owned(), media_type: media_type.to_owned(), name: name.map(str::to_owned) })
    }

    /// The bytes of a document, checked against its name.
    ///
    /// # Errors
    /// It is not there, or its bytes have changed.
    pub async fn fetch(&self, sha256: &str) -> Result<Vec<u8>, StoreError> {
        let known =
            sqlx::query("SELECT bytes FROM evidence WHERE sha256 = $1").bind(sha256).fetch_optional(&self.pool).await?;
        if known.is_none() || !is_name(sha256) {
            return Err(StoreError::NoEvidence(sha256.to_owned()));
        }
        let path = self.evidence_path(sha256);
        let bytes = std::fs::read(&path).map_err(|source| StoreError::File { path, source })?;
        let found = hex(&Sha256::digest(&bytes));
        if found == sha256 { Ok(bytes) } else { Err(StoreError::EvidenceDamaged { sha256: sha256.to_owned(), found }) }
    }

    /// Names of all documents.
    ///
    /// # Errors
    /// The database refused.
    pub async fn evidence(&self) -> Result<Vec<String>, StoreError> {
        let rows = sqlx::query("SELECT sha256 FROM evidence ORDER BY sha256").fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// The folder of documents that belongs to a database file.
    pub fn evidence_folder(database: &Path) -> PathBuf {
        let mut name = database.file_name().unwrap_or_default().to_owned();
        name.push(".evidence");
        database.with_file_name(name)
    }

    pub(super) fn evidence_path(&self, sha256: &str) -> PathBuf {
        document(&Self::evidence_folder(&self.path), sha256)
    }
}

/// Where a document lies in a folder.
pub(super) fn document(folder: &Path, sha256: &str) -> PathBuf {
    folder.join(sha256.get(..2).unwrap_or("_")).join(sha256)
}

/// May a document be called that? Anything else could name a file outside of the folder.
pub(super) fn is_name(sha256: &str) -> bool {
    sha256.len() == 64 && sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A file of the right length: it was renamed into place whole, so its length settles it.
fn holds(path: &Path, bytes: u64) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.len() == bytes)
}

/// Writes a file so that it is either not there or complete: to a neighbour first, onto the disk, then renamed.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let failed = |source| StoreError::File { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let neighbour = neighbour(path);
    let written = std::fs::File::create(&neighbour).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&neighbour, path)).map_err(|error| {
        // The half-written neighbour is of no use; that it may stay behind is no error of its own.
        let _ = std::fs::remove_file(&neighbour);
        failed(error)
    })?;
    sync_folder(path);
    Ok(())
}

/// A name beside a file, for what is to become it.
pub(super) fn neighbour(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", uuid::Uuid::now_v7().simple()));
    PathBuf::from(name)
}

/// Lets a file's name survive a power cut too, where the system can promise that.
pub(super) fn sync_folder(path: &Path) {
    if let Some(Ok(folder)) = path.parent().map(std::fs::File::open) {
        let _ = folder.sync_all();
    }
}
