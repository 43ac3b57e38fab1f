//! How long to wait before a message is sent again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// The first wait; each that follows is twice as long.
const FIRST: Duration = Duration::from_secs(1);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(300);

/// The wait after so many tries, from 1: between half of it and all of it by chance, so that those who failed together do
/// not come back together.
pub(super) fn wait(tries: u32) -> Duration {
    let doubled = FIRST.saturating_mul(1u32.checked_shl(tries.saturating_sub(1)).unwrap_or(u32::MAX)).min(LONGEST);
    doubled.mul_f64(0.5 + 0.5 * chance())
}

/// A number from 0 to 1. The standard library seeds its hashers at random; nothing here needs better.
fn chance() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_five_minutes_and_are_not_all_the_same() {
        for (tries, longest_secs) in [(1, 1), (2, 2), (4, 8), (9, 256), (10, 300), (33, 300), (u32::MAX, 300)] {
            let longest = Duration::from_secs(longest_secs);
            for _ in 0..20 {
                let wait = wait(tries);
                assert!(wait >= longest / 2 && wait <= longest, "{tries}: {wait:?}");
            }
        }
        let waits: std::collections::BTreeSet<Duration> = (0..50).map(|_| wait(5)).collect();
        assert!(waits.len() > 10);
    }
}
