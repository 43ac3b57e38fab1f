use sqlx::sqlite::SqliteConnectOptions;

use super::*;
use crate::score::event::{Context, Player, RoundEntry, Setup, SideInfo, Source};
use crate::score::rules::RuleSet;
use crate::score::tally::SideEntry;
use crate::score::{Seat, Violation};

fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn create(rules: &str) -> Command {
    let set = RuleSet::builtin(rules).unwrap();
    let (rules, defaults_taken) = set.settle().unwrap();
    let side = |name: &str| SideInfo { players: vec![Player::named(name)], colour: None };
    Command::Create(Box::new(Setup {
        rules_name: set.name,
        rules,
        defaults_taken,
        choices: Vec::new(),
        format: Format::Singles,
        sides: vec![side("Ann"), side("Bob")],
        first: Seat(0),
        context: Context::default(),
    }))
}

fn record(a: i64, b: i64) -> Command {
    Command::Record {
        round: RoundEntry {
            sides: vec![SideEntry::of_total(a), SideEntry::of_total(b)],
            first: None,
            last: None,
            source: Source::Person,
            evidence: Vec::new(),
        },
    }
}

async fn fresh(folder: &tempfile::TempDir) -> Store {
    Store::open(&folder.path().join("crokeye.db")).await.unwrap()
}

#[test]
fn what_was_written_is_read_back_after_a_new_start() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let number = store.create(&create("nca"), now(), "ann").await.unwrap().number;
        let (written, _) = store.execute(number, Some(1), &record(60, 40), now(), "ann").await.unwrap();
        store.close().await;
        let store = fresh(&folder).await;
        let read = store.load(number).await.unwrap();
        assert_eq!(read.game, written.game);
        assert_eq!(store.list(10).await.unwrap()[0].summary, Summary::of(&read.game));
        assert!(store.check().await.unwrap().faults.is_empty());
    });
}

#[test]
fn a_writer_that_saw_an_older_state_gets_a_conflict_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let other = fresh(&folder).await;
        let number = store.create(&create("nca"), now(), "ann").await.unwrap().number;
        let mut seen = other.load(number).await.unwrap().game;
        store.execute(number, Some(1), &record(60, 40), now(), "ann").await.unwrap();
        let late = other.execute(number, Some(1), &record(60, 40), now(), "bob").await;
        assert!(matches!(late, Err(StoreError::Conflict { expected: 1, found: 2 })));
        let events = Match::decide(Some(&seen), &record(20, 30)).unwrap();
        let before = seen.clone();
        let late = other.append(number, &mut seen, events, now(), "bob").await;
        assert!(matches!(late, Err(StoreError::Conflict { expected: 1, found: 2 })));
        assert_eq!(seen, before, "the state moved on although nothing was written");
        assert_eq!(store.load(number).await.unwrap().game.rounds().len(), 1);
    });
}

#[test]
fn writers_at_the_same_time_lose_no_event() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crokeye.db");
    let number = block(async {
        let store = fresh(&folder).await;
        let mut setup = create("additive");
        if let Command::Create(setup) = &mut setup {
            setup.rules.end = crate::score::rules::End::Target(1_000_000);
        }
        store.create(&setup, now(), "ann").await.unwrap().number
    });
    const EACH: usize = 15;
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                block(async {
                    let store = Store::open(path).await.unwrap();
                    for _ in 0..EACH {
                        let author = format!("writer {writer}");
                        store.execute(number, None, &record(60, 40), now(), &author).await.unwrap();
                    }
                });
            });
        }
    });
    block(async {
        let store = fresh(&folder).await;
        assert_eq!(store.load(number).await.unwrap().game.rounds().len(), 4 * EACH);
        assert!(store.check().await.unwrap().faults.is_empty());
    });
}

#[test]
fn programs_that_make_the_same_new_database_at_once_all_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crokeye.db");
    for round in 0..20 {
        let path = path.with_file_name(format!("{round}.db"));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| block(async { Store::open(&path).await.map(|_| ()).unwrap() }));
            }
        });
    }
}

#[test]
fn several_commands_are_all_written_or_none() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let number = store.create(&create("nca"), now(), "ann").await.unwrap().number;
        let refused = store.execute_all(number, None, &[record(60, 40), record(62, 40)], now(), "ann").await;
        assert!(matches!(refused, Err(StoreError::Refused(Violation::NotMultipleOfFive { .. }))));
        assert_eq!(store.load(number).await.unwrap().game.revision(), 1);
    });
}

#[test]
fn a_database_of_a_newer_crokeye_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                     VALUES (99, 'from the future', 1, x'00', 0)";
        sqlx::query(newer).execute(&store.pool).await.unwrap();
        store.close().await;
        let path = folder.path().join("crokeye.db");
        // Without a write-ahead log: that none is begun before it is refused.
        let options = SqliteConnectOptions::new().filename(&path).journal_mode(sqlx::sqlite::SqliteJournalMode::Delete);
        SqlitePool::connect_with(options).await.unwrap().close().await;
        let before = std::fs::read(&path).unwrap();
        for purpose in [Purpose::Create, Purpose::Write, Purpose::Read, Purpose::Rescue] {
            let refused = Store::open_for(&path, purpose).await.unwrap_err();
            assert!(matches!(refused, StoreError::Newer { found: 99, known: 4, .. }), "{refused}");
            assert!(refused.to_string().contains("newer crokeye"));
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    });
}

#[test]
fn somebody_elses_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    block(async {
        std::fs::write(&path, "this is no database, but a letter to grandmother, long enough to be read as a page")
            .unwrap();
        let refused = Store::open(&path).await.unwrap_err();
        assert!(matches!(refused, StoreError::Foreign { .. }), "{refused}");
        std::fs::remove_file(&path).unwrap();
        for mode in ["delete", "wal"] {
            let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
            let pool = SqlitePool::connect_with(options).await.unwrap();
            let mode = format!("PRAGMA journal_mode = {mode}");
            sqlx::query(sqlx::AssertSqlSafe(mode)).fetch_all(&pool).await.unwrap();
            sqlx::query("CREATE TABLE IF NOT EXISTS recipes (name TEXT)").execute(&pool).await.unwrap();
            pool.close().await;
            let before = std::fs::read(&path).unwrap();
            for purpose in [Purpose::Create, Purpose::Write, Purpose::Read, Purpose::Rescue] {
                let refused = Store::open_for(&path, purpose).await.unwrap_err();
                assert!(matches!(refused, StoreError::Foreign { .. }), "{refused}");
            }
            assert_eq!(std::fs::read(&path).unwrap(), before, "it was changed");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "something was put beside it");
        }
    });
}

#[test]
fn events_cannot_be_changed_and_what_was_changed_behind_our_back_shows() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let number = store.create(&create("nca"), now(), "ann").await.unwrap().number;
        store.execute(number, None, &record(60, 40), now(), "ann").await.unwrap();
        for forbidden in
            ["UPDATE event SET author = 'bob'", "DELETE FROM event", "INSERT INTO event VALUES (1, 9, 0, '', '', '')"]
        {
            assert!(sqlx::query(forbidden).execute(&store.pool).await.is_err(), "{forbidden}");
        }
        sqlx::query("DROP TRIGGER event_is_never_changed").execute(&store.pool).await.unwrap();
        let forged = "UPDATE event SET body = replace(body, '60', '95') WHERE revision = 2";
        assert_eq!(sqlx::query(forged).execute(&store.pool).await.unwrap().rows_affected(), 1);
        let refused = store.load(number).await.unwrap_err();
        assert!(matches!(refused, StoreError::Unreadable { revision: 2, .. }), "{refused}");
        assert_eq!(store.check().await.unwrap().faults.len(), 1);
    });
}

#[test]
fn a_lost_event_is_noticed_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let number = store.create(&create("nca"), now(), "ann").await.unwrap().number;
        store.execute(number, None, &record(60, 40), now(), "ann").await.unwrap();
        sqlx::query("DROP TRIGGER event_is_never_removed").execute(&store.pool).await.unwrap();
        sqlx::query("DELETE FROM event WHERE revision = 2").execute(&store.pool).await.unwrap();
        store.close().await;
        let refused = Store::open(&folder.path().join("crokeye.db")).await.unwrap_err();
        assert!(matches!(refused, StoreError::Damaged { .. }), "{refused}");
    });
}

#[test]
fn evidence_is_kept_once_by_content_and_its_damage_shows() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let first = store.keep(b"a photo", "photo", "image/jpeg", Some("a.jpg"), now()).await.unwrap();
        let again = store.keep(b"a photo", "photo", "image/jpeg", Some("b.jpg"), now()).await.unwrap();
        assert_eq!(first.sha256, again.sha256);
        assert_eq!(store.evidence().await.unwrap(), std::slice::from_ref(&first.sha256));
        assert_eq!(store.fetch(&first.sha256).await.unwrap(), b"a photo");
        std::fs::write(store.evidence_path(&first.sha256), b"another").unwrap();
        assert!(matches!(store.fetch(&first.sha256).await, Err(StoreError::EvidenceDamaged { .. })));
        assert_eq!(store.check().await.unwrap().faults.len(), 1);
    });
}

#[test]
fn a_backup_is_whole_and_never_overwrites() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let number = store.create(&create("nca"), now(), "ann").await.unwrap().number;
        let photo = store.keep(b"a photo", "photo", "image/jpeg", None, now()).await.unwrap();
        store.execute(number, None, &record(60, 40), now(), "ann").await.unwrap();
        let attach = Command::Attach { round: 1, evidence: photo.clone() };
        store.execute(number, None, &attach, now(), "ann").await.unwrap();
        let target = folder.path().join("backup/copy.db");
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        assert_eq!(store.backup(&target).await.unwrap(), Vec::<String>::new());
        assert_eq!(std::fs::read_dir(target.parent().unwrap()).unwrap().count(), 2, "the copy and its photos alone");
        assert!(matches!(store.backup(&target).await, Err(StoreError::Exists(_))));
        let copy = Store::open(&target).await.unwrap();
        assert_eq!(copy.load(number).await.unwrap().game, store.load(number).await.unwrap().game);
        assert_eq!(copy.fetch(&photo.sha256).await.unwrap(), b"a photo");
        assert!(copy.check().await.unwrap().faults.is_empty());
    });
}

#[test]
fn a_match_is_found_by_number_by_part_of_its_id_and_as_the_last() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        store.create(&create("nca"), now(), "ann").await.unwrap();
        let second = store.create(&create("nca"), now(), "ann").await.unwrap();
        let id = second.id.to_string();
        for handle in ["2", "#2", "last", &id, &id[id.len() - 8..], &id.to_uppercase()] {
            assert_eq!(store.find(handle).await.unwrap(), 2, "{handle}");
        }
        assert!(matches!(store.find("7").await, Err(StoreError::NoMatch(_))));
        assert!(matches!(store.find("%").await, Err(StoreError::NoMatch(_))));
        // Both were made in the same millisecond or close to it: the front of a time-ordered id is no handle.
        assert!(matches!(store.find(&id[..6]).await, Err(StoreError::Ambiguous { .. })));
    });
}

#[test]
fn a_match_taken_over_with_finer_times_than_are_stored_is_well() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let at = Timestamp::from_nanosecond(1_800_000_000_123_456_789).unwrap();
        let events = Match::decide(None, &create("nca")).unwrap();
        let log: Vec<Record> = (1..)
            .zip(events)
            .map(|(revision, event)| Record { revision, at, author: "ann".to_owned(), event })
            .collect();
        let game = Match::replay(&log).unwrap();
        let number = store.restore(&[Plan { id: None, log, game, notes: Vec::new() }]).await.unwrap()[0].number;
        assert_eq!(store.check().await.unwrap().faults, Vec::<String>::new());
        let read = store.load(number).await.unwrap();
        assert_eq!(store.list(1).await.unwrap()[0].summary, Summary::of(&read.game));
    });
}

#[test]
fn a_check_while_others_write_finds_no_fault() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let folder = tempfile::tempdir().unwrap();
    let number = block(async {
        let store = fresh(&folder).await;
        let mut setup = create("additive");
        if let Command::Create(setup) = &mut setup {
            setup.rules.end = crate::score::rules::End::Target(1_000_000);
        }
        store.create(&setup, now(), "ann").await.unwrap().number
    });
    let done = AtomicBool::new(false);
    let checked = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            block(async {
                let store = fresh(&folder).await;
                while !done.load(Ordering::Relaxed) {
                    store.execute(number, None, &record(60, 40), now(), "ann").await.unwrap();
                }
            });
        });
        let faults = block(async {
            let store = fresh(&folder).await;
            let mut faults = Vec::new();
            for _ in 0..60 {
                faults.extend(store.check().await.unwrap().faults);
            }
            faults
        });
        done.store(true, Ordering::Relaxed);
        writer.join().unwrap();
        faults
    });
    assert_eq!(checked, Vec::<String>::new());
}

#[test]
fn a_writer_recovers_from_a_disk_that_was_full_for_a_moment() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let number = store.create(&create("nca"), now(), "ann").await.unwrap().number;
        let mut state = store.load(number).await.unwrap().game;
        for _ in 0..8 {
            let mut tx = store.pool.begin_with("BEGIN IMMEDIATE").await.unwrap();
            sqlx::query("PRAGMA max_page_count = 1").execute(&mut *tx).await.unwrap();
            // SQLite ends the transaction by itself, as it does when COMMIT finds the disk full.
            let full =
                sqlx::query("INSERT INTO evidence VALUES (hex(zeroblob(100000)), '', 0, 0)").execute(&mut *tx).await;
            assert!(full.unwrap_err().to_string().contains("full"));
            assert!(sqlx::query("ROLLBACK").execute(&mut *tx).await.is_err(), "the transaction lives on: no proof");
        }
        let events = Match::decide(Some(&state), &record(60, 40)).unwrap();
        store.append(number, &mut state, events, now(), "ann").await.unwrap();
        assert_eq!(store.check().await.unwrap().faults, Vec::<String>::new());
    });
}

#[test]
fn only_a_writer_that_brings_a_match_makes_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crokeye.db");
    block(async {
        for purpose in [Purpose::Write, Purpose::Read, Purpose::Rescue] {
            let refused = Store::open_for(&path, purpose).await.unwrap_err();
            assert!(matches!(refused, StoreError::NoDatabase(_)), "{refused}");
            assert!(!path.exists());
        }
        // What a program leaves that was killed while it made one.
        std::fs::write(&path, "").unwrap();
        assert!(matches!(Store::open_for(&path, Purpose::Read).await, Err(StoreError::NoDatabase(_))));
        assert!(Store::open_for(&path, Purpose::Create).await.is_ok());
    });
}

#[cfg(unix)]
#[test]
fn a_database_behind_a_link_keeps_its_photos_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link.db"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(real.join("crokeye.db"), &link).unwrap();
    block(async {
        // The first makes the file that the link points to.
        for _ in 0..2 {
            let store = Store::open(&link).await.unwrap();
            store.keep(b"a photo", "photo", "image/jpeg", None, now()).await.unwrap();
            store.close().await;
        }
        assert!(real.join("crokeye.db.evidence").exists());
        assert!(!folder.path().join("link.db.evidence").exists());
    });
}

#[test]
fn a_name_that_looks_like_a_uri_is_a_path() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let path = folder.path().join("file:x.db?mode=memory");
        let store = Store::open(&path).await.unwrap();
        store.create(&create("nca"), now(), "ann").await.unwrap();
        store.close().await;
        assert_eq!(Store::open_for(&path, Purpose::Read).await.unwrap().numbers().await.unwrap(), [1]);
    });
}

#[test]
fn a_backup_that_fails_leaves_no_database() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        store.create(&create("nca"), now(), "ann").await.unwrap();
        store.keep(b"a photo", "photo", "image/jpeg", None, now()).await.unwrap();
        let target = folder.path().join("copy.db");
        // No photo can be put where a file is.
        std::fs::write(folder.path().join("copy.db.evidence"), "in the way").unwrap();
        assert!(matches!(store.backup(&target).await, Err(StoreError::File { .. })));
        let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("copy.db")).collect();
        assert_eq!(left, ["copy.db.evidence"]);
    });
}

#[test]
fn a_backup_takes_what_is_good_and_says_what_is_not() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let mut kept = Vec::new();
        for photo in ["one", "two", "three"] {
            kept.push(store.keep(photo.as_bytes(), "photo", "image/jpeg", None, now()).await.unwrap().sha256);
        }
        kept.sort();
        std::fs::write(store.evidence_path(&kept[0]), b"other").unwrap();
        std::fs::remove_file(store.evidence_path(&kept[1])).unwrap();
        let target = folder.path().join("copy.db");
        let left_out = store.backup(&target).await.unwrap();
        assert_eq!(left_out.len(), 2);
        assert!(left_out[0].contains(&kept[0]) && left_out[1].contains(&kept[1]), "{left_out:?}");
        let copy = Store::open(&target).await.unwrap();
        assert!(copy.fetch(&kept[2]).await.is_ok());
        assert_eq!(copy.check().await.unwrap().faults.len(), 2);
    });
}

#[test]
fn evidence_that_is_named_and_lost_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let number = store.create(&create("nca"), now(), "ann").await.unwrap().number;
        let evidence = store.keep(b"a photo", "photo", "image/jpeg", None, now()).await.unwrap();
        store.execute(number, None, &record(60, 40), now(), "ann").await.unwrap();
        let attach = Command::Attach { round: 1, evidence: evidence.clone() };
        store.execute(number, None, &attach, now(), "ann").await.unwrap();
        assert_eq!(store.check().await.unwrap().faults, Vec::<String>::new());
        sqlx::query("DELETE FROM evidence").execute(&store.pool).await.unwrap();
        let report = store.check().await.unwrap();
        assert!(report.faults[0].contains(&evidence.sha256), "{report:?}");
        // As after reading the match from another database's JSON.
        std::fs::remove_file(store.evidence_path(&evidence.sha256)).unwrap();
        let report = store.check().await.unwrap();
        assert!(report.faults.is_empty() && report.elsewhere.len() == 1, "{report:?}");
    });
}

#[test]
fn evidence_goes_by_a_hash_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let number = store.create(&create("nca"), now(), "ann").await.unwrap().number;
        let mut evidence = store.keep(b"a photo", "photo", "image/jpeg", None, now()).await.unwrap();
        store.execute(number, None, &record(60, 40), now(), "ann").await.unwrap();
        let upper = evidence.sha256.to_uppercase();
        for wrong in ["../../../../etc/passwd", "", "é", &upper, &evidence.sha256.repeat(2)] {
            evidence.sha256 = wrong.to_owned();
            let attach = Command::Attach { round: 1, evidence: evidence.clone() };
            let refused = store.execute(number, None, &attach, now(), "ann").await;
            assert!(matches!(refused, Err(StoreError::NoName(_))), "{wrong}");
            assert!(matches!(store.fetch(wrong).await, Err(StoreError::NoEvidence(_))), "{wrong}");
        }
        assert_eq!(store.load(number).await.unwrap().game.revision(), 2);
    });
}

#[test]
fn a_damaged_page_is_a_fault_and_the_matches_beside_it_are_found() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        const MATCHES: i64 = 60;
        let path = folder.path().join("crokeye.db");
        let store = fresh(&folder).await;
        for _ in 0..MATCHES {
            store.create(&create("nca"), now(), "ann").await.unwrap();
        }
        store.close().await;
        const PAGE: usize = 4096;
        let whole = std::fs::read(&path).unwrap();
        let (mut partly, mut fewest) = (0, MATCHES);
        // The first page says whose file it is.
        for page in 1..whole.len() / PAGE {
            let mut bytes = whole.clone();
            bytes[page * PAGE..(page + 1) * PAGE].fill(0xa5);
            std::fs::write(&path, bytes).unwrap();
            let store = Store::open_for(&path, Purpose::Rescue).await.unwrap();
            let report = store.check().await.unwrap();
            assert!(!report.faults.is_empty(), "page {page}");
            let (numbers, _) = store.numbers_found().await.unwrap();
            assert_eq!(numbers.len(), report.matches, "page {page}");
            partly += usize::from(report.faults.iter().any(|fault| fault.starts_with("match ")));
            fewest = fewest.min(numbers.len() as i64);
            store.close().await;
        }
        assert!(partly > 0, "no damage hit a match: no proof");
        assert_eq!(fewest, MATCHES, "matches are found through their row or their events");
    });
}

#[test]
fn a_receiver_is_told_from_its_registration_on_until_it_has_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    block(async {
        let store = fresh(&folder).await;
        let before = store.create(&create("nca"), now(), "ann").await.unwrap().number;
        store.register("hook", now()).await.unwrap();
        assert_eq!(store.untold("hook").await.unwrap(), []);
        store.execute(before, None, &record(60, 40), now(), "ann").await.unwrap();
        let after = store.create(&create("nca"), now(), "ann").await.unwrap().number;
        // A new start does not forget, and does not begin anew.
        store.close().await;
        let store = fresh(&folder).await;
        store.register("hook", now()).await.unwrap();
        let expected = [Untold { number: before, after: 1 }, Untold { number: after, after: 0 }];
        assert_eq!(store.untold("hook").await.unwrap(), expected);
        store.acknowledge("hook", before, 2).await.unwrap();
        store.acknowledge("hook", after, 1).await.unwrap();
        assert_eq!(store.untold("hook").await.unwrap(), []);
        store.execute(after, None, &record(20, 40), now(), "ann").await.unwrap();
        assert_eq!(store.untold("hook").await.unwrap(), [Untold { number: after, after: 1 }]);
        assert!(store.check().await.unwrap().faults.is_empty());
    });
}
