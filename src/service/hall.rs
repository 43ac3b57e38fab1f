//! The boards of a hall: each with its thread, what is told of it, and its referee.

use std::sync::Arc;

use super::board::{Board, Label};
use super::hub::Hub;
use super::referee::Referee;
use super::setup::Setup;

/// A board with all that belongs to it.
pub struct Table {
    /// How it is called.
    pub label: Label,
    /// What happens at it.
    pub hub: Arc<Hub>,
    /// Keeps its score.
    pub referee: Referee,
    /// Its thread, pictures and figures.
    pub board: Board,
    /// What was chosen for it.
    pub setup: Setup,
}

/// All boards, in the order of the configuration.
#[derive(Default)]
pub struct Hall {
    tables: Vec<Arc<Table>>,
}

impl Hall {
    /// Of these boards, whose ids differ.
    pub fn new(tables: Vec<Arc<Table>>) -> Self {
        Self { tables }
    }

    /// All of them.
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    /// The board of this id; the first one where none is named.
    pub fn find(&self, id: Option<&str>) -> Option<&Arc<Table>> {
        self.tables.iter().find(|table| id.is_none_or(|id| table.label.id == id))
    }

    /// Ends all threads and waits for them; what they saw until now is proposed.
    pub fn stop(&self) {
        self.tables.iter().for_each(|table| table.board.ask_to_stop());
        self.tables.iter().for_each(|table| table.board.stop());
    }
}
