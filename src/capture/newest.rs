//! A place for one value between two threads: the newest wins.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Holds the newest value that was put and not yet taken.
#[derive(Debug)]
pub struct Newest<T> {
    state: Mutex<State<T>>,
    came: Condvar,
}

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    dropped: u64,
}

impl<T> Default for Newest<T> {
    fn default() -> Self {
        Self { state: Mutex::new(State { value: None, dropped: 0 }), came: Condvar::new() }
    }
}

impl<T> Newest<T> {
    /// Puts a value; one that was not taken is dropped.
    pub fn put(&self, value: T) {
        let mut state = self.lock();
        if state.value.replace(value).is_some() {
            state.dropped += 1;
        }
        drop(state);
        self.came.notify_one();
    }

    /// Takes the value, waiting for one at most so long.
    pub fn take(&self, patience: Duration) -> Option<T> {
        let until = Instant::now() + patience;
        let mut state = self.lock();
        loop {
            if let Some(value) = state.value.take() {
                return Some(value);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            state = self.came.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Values that were never taken.
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // A value is whole or not there: a thread that died while holding the lock leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_newest_value_wins_and_the_others_are_counted() {
        let slot = Newest::default();
        (0..3).for_each(|i| slot.put(i));
        assert_eq!((slot.take(Duration::ZERO), slot.dropped()), (Some(2), 2));
        assert_eq!(slot.take(Duration::from_millis(1)), None);
    }

    #[test]
    fn a_reader_that_waits_is_woken() {
        let slot = Arc::new(Newest::default());
        let writer = Arc::clone(&slot);
        let thread = std::thread::spawn(move || writer.put(7));
        assert_eq!(slot.take(Duration::from_secs(10)), Some(7));
        thread.join().unwrap();
    }
}
