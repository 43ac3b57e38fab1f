//! What the gate has for the analysis: a queue that never holds more than one picture.
//!
//! A count takes longer than a frame. Should one picture still wait when the next is ready, the newer one takes its
//! place; a first look at a rest is never displaced by a lesser one.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::live::input::Told;
use crate::live::{Glimpse, Input};

/// Inputs on their way from one thread to another.
#[derive(Debug, Default)]
pub struct Mailbox {
    waiting: Mutex<VecDeque<Input>>,
    came: Condvar,
}

impl Mailbox {
    /// Puts an input.
    pub fn put(&self, input: Input) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rank) = rank(&input)
            && let Some(at) = waiting.iter().position(|other| self::rank(other).is_some())
        {
            let weaker = waiting.get(at).and_then(self::rank).is_some_and(|other| rank < other);
            if weaker {
                return;
            }
            waiting.remove(at);
        }
        waiting.push_back(input);
        drop(waiting);
        self.came.notify_one();
    }

    /// Takes the next input, waiting for one at most so long.
    pub fn take(&self, patience: Duration) -> Option<Input> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut waiting, _) = self
            .came
            .wait_timeout_while(waiting, patience, |waiting| waiting.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        waiting.pop_front()
    }
}

/// How much a picture matters; None for an input without one.
fn rank(input: &Input) -> Option<u8> {
    match &input.what {
        Told::Glimpse(Glimpse::Still { refined: false, .. }) => Some(2),
        Told::Glimpse(Glimpse::Hole(_)) => Some(1),
        Told::Glimpse(Glimpse::Still { .. } | Glimpse::Search(_)) => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::RgbImage;

    fn still(frame: u64, refined: bool) -> Input {
        let what = Told::Glimpse(Glimpse::Still { rgb: RgbImage::new(1, 1), frames: 3, refined });
        Input { frame, at: Duration::from_millis(frame), what }
    }

    fn moving(frame: u64) -> Input {
        Input { frame, at: Duration::from_millis(frame), what: Told::Glimpse(Glimpse::Moving) }
    }

    fn frames(mailbox: &Mailbox) -> Vec<u64> {
        std::iter::from_fn(|| mailbox.take(Duration::ZERO)).map(|input| input.frame).collect()
    }

    #[test]
    fn one_picture_waits_at_most_and_the_newest_wins() {
        let mailbox = Mailbox::default();
        [still(1, false), moving(2), still(3, false), moving(4)].into_iter().for_each(|input| mailbox.put(input));
        assert_eq!(frames(&mailbox), [2, 3, 4]);
    }

    #[test]
    fn a_first_look_is_not_displaced_by_a_second() {
        let mailbox = Mailbox::default();
        [still(1, false), still(2, true)].into_iter().for_each(|input| mailbox.put(input));
        assert_eq!(frames(&mailbox), [1]);
        [still(1, true), still(2, false)].into_iter().for_each(|input| mailbox.put(input));
        assert_eq!(frames(&mailbox), [2]);
    }
}
