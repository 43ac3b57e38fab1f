//! Reading a match: what it is, where it stands, what a person should know.

use jiff::Timestamp;

use super::{Match, Proposal, ProposalState, Round, Status};
use crate::score::event::{Finish, Setup, SideInfo};
use crate::score::format::{Format, Party, Seat};
use crate::score::rules::Rules;
use crate::score::standing::{How, Reached, Standing, round_points};

impl Match {
    /// What was settled before the first shot, with names as corrected since.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The rules it is played by.
    pub fn rules(&self) -> &Rules {
        &self.setup.rules
    }

    /// How many play.
    pub fn format(&self) -> Format {
        self.setup.format
    }

    /// When it was played, or else entered.
    pub fn played_at(&self) -> Timestamp {
        self.setup.context.played_at.unwrap_or(self.created)
    }

    /// The name of a side.
    pub fn name(&self, party: Party) -> String {
        self.setup.sides.get(party.index()).map(SideInfo::name).unwrap_or_default()
    }

    /// Every round recorded, void ones too: round `n` is at `n - 1`.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// The rounds that count, with their numbers.
    pub fn counted(&self) -> impl Iterator<Item = (u32, &Round)> {
        let valid = self.rounds.iter().enumerate().filter(|(_, round)| round.void.is_none());
        valid.take(self.derived.standing.counted as usize).map(|(at, round)| (at as u32 + 1, round))
    }

    /// Points that a round brought each side.
    pub fn points_of(&self, round: &Round) -> [u32; 3] {
        round_points(&self.setup.rules, &round.sides)
    }

    /// Every proposal.
    pub fn proposals(&self) -> &[Proposal] {
        &self.proposals
    }

    /// Proposals nobody has decided on.
    pub fn open_proposals(&self) -> impl Iterator<Item = &Proposal> {
        self.proposals.iter().filter(|proposal| proposal.state == ProposalState::Open)
    }

    /// Sums and the end reached.
    pub fn standing(&self) -> &Standing {
        &self.derived.standing
    }

    /// How it was ended by hand, and why.
    pub fn finish(&self) -> Option<&(Finish, Option<String>)> {
        self.finish.as_ref()
    }

    /// Number of events in the log.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Revision of the event that an undo would take back.
    pub fn undoable(&self) -> Option<u64> {
        self.done.last().map(|step| step.revision)
    }

    /// Who starts the next round: as set, else the seat after the one that led the last round that was not voided.
    pub fn next_first(&self) -> Seat {
        let last = self.rounds.iter().rev().find(|round| round.void.is_none());
        let due = last.map_or(self.setup.first, |round| self.setup.format.next(round.first));
        self.derived.first_set.unwrap_or(due)
    }

    /// Where the match stands.
    pub fn status(&self) -> Status {
        let leader = || self.derived.standing.leader(self.setup.format).map(|(party, _)| party);
        let by_rounds = match self.derived.standing.reached {
            None => Status::Open,
            Some(Reached::ShootOutDue) => Status::ShootOutDue,
            Some(Reached::Won { winner, how }) => Status::Over { winner: Some(winner), how },
            Some(Reached::Drawn { how }) => Status::Over { winner: None, how },
        };
        match &self.finish {
            None => by_rounds,
            Some((Finish::ShootOut { winner }, _)) if by_rounds == Status::ShootOutDue => {
                Status::Over { winner: Some(*winner), how: How::ShootOut }
            }
            // A correction has made the shoot-out pointless: the rounds decide.
            Some((Finish::ShootOut { .. }, _)) => by_rounds,
            Some((Finish::AsItStands, _)) => Status::Over { winner: leader(), how: How::AsItStands },
            Some((Finish::Abandoned, _)) => Status::Over { winner: None, how: How::Abandoned },
            Some((Finish::Stated { winner }, _)) => Status::Over { winner: *winner, how: How::Stated },
            Some((Finish::Forfeit { by }, _)) => Status::Over { winner: self.winner_without(*by), how: How::Forfeit },
        }
    }

    /// What a person should know before trusting the result.
    pub fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        let standing = &self.derived.standing;
        if standing.surplus > 0 {
            notices.push(format!(
                "{} round(s) were played after the end that the corrected rounds give; they do not count",
                standing.surplus
            ));
        }
        let leader = standing.leader(self.setup.format).map(|(party, _)| party);
        match &self.finish {
            Some((Finish::Stated { winner }, _)) if *winner != leader && standing.counted > 0 => {
                notices.push("the winner is as stated by the source; the points say otherwise".to_owned());
            }
            Some((Finish::ShootOut { .. }, _)) if standing.reached != Some(Reached::ShootOutDue) => {
                notices.push("a shoot-out was entered, but the match is no longer level: it is ignored".to_owned());
            }
            _ => {}
        }
        let odd = self.rounds.iter().filter(|round| !round.odd.is_empty()).count();
        if odd > 0 {
            notices.push(format!("{odd} round(s) carry numbers that no count gives, taken over as stated elsewhere"));
        }
        let open = self.open_proposals().count();
        if open > 0 {
            notices.push(format!("{open} proposed round(s) wait for a decision"));
        }
        notices
    }

    fn winner_without(&self, quitter: Party) -> Option<Party> {
        let mut rest: Vec<Party> =
            self.setup.format.parties().iter().copied().filter(|party| *party != quitter).collect();
        rest.sort_by_key(|party| std::cmp::Reverse(self.derived.standing.points[party.index()]));
        match rest.as_slice() {
            [only] => Some(*only),
            [first, second, ..] => {
                let points = |party: &Party| self.derived.standing.points[party.index()];
                (points(first) > points(second)).then_some(*first)
            }
            [] => None,
        }
    }
}
