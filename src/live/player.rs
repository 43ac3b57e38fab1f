//! Gate and watcher in step: every frame is looked at and judged before the next one comes.
//!
//! This is how a finite source is played, and what tests drive. A live camera runs the same two on threads of their own.

use std::time::Duration;

use image::RgbImage;

use super::event::Event;
use super::gate::{self, Gate};
use super::input::{Input, Told};
use super::watcher::{Settings, Watcher};

/// A gate and a watcher.
#[derive(Debug)]
pub struct Player {
    gate: Gate,
    watcher: Watcher,
}

impl Player {
    /// Nothing seen yet.
    pub fn new(settings: Settings, gate: gate::Config) -> Self {
        Self { gate: Gate::new(gate), watcher: Watcher::new(settings) }
    }

    /// The watcher, to look at.
    pub fn watcher(&self) -> &Watcher {
        &self.watcher
    }

    /// Looks at a frame; what the watcher was told because of it, and the events that came of that.
    pub fn frame(&mut self, rgb: &RgbImage, number: u64, at: Duration) -> Option<(Input, Vec<Event>)> {
        let glimpse = self.gate.take(rgb, at)?;
        Some(self.tell(Told::Glimpse(glimpse), number, at))
    }

    /// Tells the watcher something that is no frame.
    pub fn tell(&mut self, what: Told, number: u64, at: Duration) -> (Input, Vec<Event>) {
        let input = Input { frame: number, at, what };
        let events = self.watcher.take(&input);
        if let Some(area) = self.watcher.new_area() {
            self.gate.set_area(area);
        }
        (input, events)
    }
}
