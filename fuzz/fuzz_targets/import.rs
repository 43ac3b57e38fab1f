//! Any bytes to any reader of foreign files: an answer or an error, and what is read folds to the same match again.
//!
//! The first byte chooses the reader. Run: `cargo +nightly fuzz run import -- -dict=fuzz/import.dict`, with the seeds of
//! `tests/exchange/seeds` (each behind one byte) as a first corpus: `fuzz/seed.sh`.

#![no_main]

use crokeye::score::Match;
use crokeye::score::import::{Origin, Stamp, read};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, file)) = bytes.split_first() else { return };
    let origin = Origin::ALL[usize::from(*choice) % Origin::ALL.len()];
    let Ok(plans) = read(origin, file, "nca", Stamp { at: Timestamp::UNIX_EPOCH, author: "fuzz" }) else { return };
    for plan in plans {
        assert_eq!(Match::replay(&plan.log).as_ref(), Some(&plan.game));
    }
});
