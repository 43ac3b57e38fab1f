//! From a command to events, or to the reason why not. Everything that can be wrong is found here, so that folding an
//! event never has to ask.

use super::{Match, Proposal, ProposalState, Round, Status};
use crate::score::event::{Command, Event, Evidence, Finish, RoundEntry, Setup, SideInfo, Source};
use crate::score::format::{Format, Party, Seat};
use crate::score::rules::Conversion;
use crate::score::standing::{convert, points_possible};
use crate::score::tally::{Oddity, SideEntry, SideScore, Strictness, check};
use crate::score::violation::Violation;

impl Match {
    /// Checks a command against the state and gives the events it makes. The state is not changed.
    ///
    /// # Errors
    /// The reason why the command is refused.
    pub fn decide(state: Option<&Match>, command: &Command) -> Result<Vec<Event>, Violation> {
        match (state, command) {
            (None, Command::Create(setup)) => create(setup),
            (Some(_), Command::Create(_)) => Err(Violation::AlreadyCreated),
            (None, _) => Err(Violation::NotCreated),
            (Some(game), command) => Ok(vec![game.decide_one(command)?]),
        }
    }

    fn decide_one(&self, command: &Command) -> Result<Event, Violation> {
        match command {
            Command::Create(_) => Err(Violation::AlreadyCreated),
            Command::Record { round } => {
                self.must_be_open()?;
                self.record(round, None, None)
            }
            Command::Propose { round, review } => {
                self.must_be_open()?;
                self.propose(round, review)
            }
            Command::Accept { proposal, sides, reason } => {
                self.must_be_open()?;
                let found = self.open(*proposal)?;
                let held = |reason: String| Violation::ProposalHeld { proposal: *proposal, reason };
                match sides {
                    Some(sides) => {
                        let round = RoundEntry { sides: sides.clone(), ..found.round.clone() };
                        self.record(&round, Some(*proposal), reason.as_deref())
                    }
                    None if !found.held.is_empty() => Err(held(found.held.join("; "))),
                    None => self.record(&found.round, Some(*proposal), None).map_err(|reason| held(reason.to_string())),
                }
            }
            Command::Dismiss { proposal, reason } => {
                self.open(*proposal)?;
                Ok(Event::ProposalDismissed { proposal: *proposal, reason: needed(reason)? })
            }
            Command::Correct { round, sides, first, last, reason } => {
                let old = self.valid_round(*round)?;
                let first = self.seat(first.unwrap_or(old.first))?;
                // Whoever really started also moves the last shot, unless that was named.
                let moved = first != old.first && old.last == self.setup.format.last_of(old.first);
                let due = if moved { self.setup.format.last_of(first) } else { old.last };
                let last = self.seat(last.unwrap_or(due))?;
                let (new, odd) = match sides {
                    Some(sides) => self.check_sides(sides, &Source::Person, &old.sides)?,
                    None => (old.sides.clone(), old.odd.clone()),
                };
                if (new.as_slice(), first, last) == (old.sides.as_slice(), old.first, old.last) {
                    return Err(Violation::NothingChanged);
                }
                Ok(Event::RoundCorrected { round: *round, sides: new, first, last, odd, reason: needed(reason)? })
            }
            Command::Void { round, reason } => {
                self.valid_round(*round)?;
                Ok(Event::RoundVoided { round: *round, reason: needed(reason)? })
            }
            Command::SetFirst { seat } => {
                self.must_be_open()?;
                Ok(Event::FirstSet { seat: self.seat(*seat)? })
            }
            Command::Rename { side, info } => {
                self.side(*side)?;
                check_side(self.setup.format, *side, info)?;
                if self.setup.sides.get(side.index()) == Some(info) {
                    return Err(Violation::NothingChanged);
                }
                Ok(Event::SideRenamed { side: *side, info: info.clone() })
            }
            Command::Attach { round, evidence } => {
                let found = self.round_at(*round).ok_or_else(|| self.no_round(*round))?.1;
                if found.evidence.iter().any(|known| known.sha256 == evidence.sha256) {
                    return Err(Violation::SameEvidence {
                        kind: evidence.kind.clone(),
                        place: format!("round {round}"),
                    });
                }
                Ok(Event::EvidenceAttached { round: *round, evidence: evidence.clone() })
            }
            Command::Finish { finish, reason } => self.end(finish, reason.as_deref()),
            Command::Undo { of } => {
                let latest = self.undoable().ok_or(Violation::NothingToUndo)?;
                match of {
                    Some(expected) if *expected != latest => {
                        Err(Violation::NotLatest { expected: *expected, found: latest })
                    }
                    _ => Ok(Event::Undone { of: latest }),
                }
            }
            Command::Redo => {
                let step = self.undone.last().ok_or(Violation::NothingToRedo)?;
                Ok(Event::Redone { of: step.revision })
            }
        }
    }

    fn record(&self, round: &RoundEntry, proposal: Option<u64>, reason: Option<&str>) -> Result<Event, Violation> {
        let (sides, odd) = self.check_sides(&round.sides, &round.source, &[])?;
        let first = self.seat(round.first.unwrap_or_else(|| self.next_first()))?;
        let last = self.seat(round.last.unwrap_or_else(|| self.setup.format.last_of(first)))?;
        if proposal.is_none() {
            self.unused(&round.evidence)?;
        }
        Ok(Event::RoundRecorded {
            sides,
            first,
            last,
            source: round.source.clone(),
            odd,
            evidence: round.evidence.clone(),
            proposal,
            reason: reason.map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned),
        })
    }

    /// A proposal is never lost for its numbers: what cannot be is held until a person gives other ones.
    fn propose(&self, round: &RoundEntry, review: &[String]) -> Result<Event, Violation> {
        self.unused(&round.evidence)?;
        for seat in [round.first, round.last].into_iter().flatten() {
            self.seat(seat)?;
        }
        let held = match self.check_sides(&round.sides, &round.source, &[]) {
            Ok(_) => Vec::new(),
            Err(refused @ Violation::Sides { .. }) => return Err(refused),
            Err(reason) => vec![reason.to_string()],
        };
        Ok(Event::RoundProposed { round: round.clone(), review: review.to_vec(), held })
    }

    fn end(&self, finish: &Finish, reason: Option<&str>) -> Result<Event, Violation> {
        match (finish, self.status()) {
            (_, Status::Over { how, .. }) => return Err(over(how)),
            (Finish::ShootOut { winner }, Status::ShootOutDue) => {
                self.side(*winner)?;
                let points = self.standing().points;
                if points[winner.index()] < points.into_iter().max().unwrap_or(0) {
                    return Err(Violation::NotLevel { party: *winner });
                }
            }
            (Finish::ShootOut { .. }, Status::Open) => return Err(Violation::NoShootOut),
            (Finish::Forfeit { by }, _) => self.side(*by)?,
            (Finish::Stated { winner: Some(winner) }, _) => self.side(*winner)?,
            _ => {}
        }
        let reason = reason.and_then(|reason| needed(reason).ok());
        Ok(Event::MatchFinished { finish: finish.clone(), reason })
    }

    /// Checks every side's entry. One that stands in `known` was accepted before, from wherever it came.
    fn check_sides(
        &self,
        entries: &[SideEntry],
        source: &Source,
        known: &[SideScore],
    ) -> Result<(Vec<SideScore>, Vec<Oddity>), Violation> {
        let format = self.setup.format;
        if entries.len() != format.sides() {
            return Err(Violation::Sides { format, needed: format.sides(), found: entries.len() });
        }
        let strictness = if matches!(source, Source::Import { .. }) { Strictness::Foreign } else { Strictness::Own };
        let discs = format.discs(&self.setup.rules);
        let mut odd = Vec::new();
        let mut sides = Vec::with_capacity(entries.len());
        for (party, entry) in format.parties().iter().zip(entries) {
            let before = known.get(party.index()).is_some_and(|side| SideEntry::from(side) == *entry);
            let strictness = if before { Strictness::Foreign } else { strictness };
            sides.push(check(*party, entry, discs, strictness, &mut odd)?);
        }
        self.check_points(&sides, strictness, &mut odd)?;
        Ok((sides, odd))
    }

    /// Points that were written down must be ones that a round gives, and follow from the totals beside them.
    fn check_points(
        &self,
        sides: &[SideScore],
        strictness: Strictness,
        odd: &mut Vec<Oddity>,
    ) -> Result<(), Violation> {
        let written: Vec<u32> = sides
            .iter()
            .filter_map(|side| if let SideScore::Points { points, .. } = side { Some(*points) } else { None })
            .collect();
        if written.is_empty() {
            return Ok(());
        }
        if written.len() != sides.len() {
            return Err(Violation::MixedEntry);
        }
        let rules = &self.setup.rules;
        let totals: Option<Vec<u32>> = sides.iter().map(SideScore::total).collect();
        let computed = totals.map(|totals| convert(rules, &totals)[..sides.len()].to_vec());
        let most = self.setup.format.discs(rules).saturating_mul(20);
        let violation = if !points_possible(rules, &written, most) {
            let conversion = match rules.conversion {
                Conversion::MatchPoints => "match_points",
                Conversion::Difference => "difference",
                Conversion::Additive => "additive",
            };
            Violation::PointsImpossible { found: written, conversion }
        } else if let Some(computed) = computed.filter(|computed| *computed != written) {
            Violation::PointsUnlikeTotals { stated: written, computed }
        } else {
            return Ok(());
        };
        match strictness {
            Strictness::Own => Err(violation),
            Strictness::Foreign => {
                odd.push(Oddity::PointsUnlikeTotals);
                Ok(())
            }
        }
    }

    /// One photo is one round: counting it twice is a double tap, not two rounds.
    fn unused(&self, evidence: &[Evidence]) -> Result<(), Violation> {
        let used = |list: &[Evidence], photo: &Evidence| list.iter().any(|known| known.sha256 == photo.sha256);
        for photo in evidence.iter().filter(|evidence| evidence.kind == "photo") {
            let refuse = |place: String| Err(Violation::SameEvidence { kind: photo.kind.clone(), place });
            if let Some(proposal) = self.open_proposals().find(|proposal| used(&proposal.round.evidence, photo)) {
                return refuse(format!("proposal {}", proposal.number));
            }
            let mut valid = self.rounds.iter().enumerate().filter(|(_, round)| round.void.is_none());
            if let Some((at, _)) = valid.find(|(_, round)| used(&round.evidence, photo)) {
                return refuse(format!("round {}", at + 1));
            }
        }
        Ok(())
    }

    fn must_be_open(&self) -> Result<(), Violation> {
        match self.status() {
            Status::Open => Ok(()),
            Status::ShootOutDue => Err(Violation::AwaitingShootOut),
            Status::Over { how, .. } => Err(over(how)),
        }
    }

    fn open(&self, number: u64) -> Result<&Proposal, Violation> {
        let at = self.proposal_at(number).ok_or(Violation::NoProposal { proposal: number })?;
        let found = &self.proposals[at];
        if found.state == ProposalState::Open { Ok(found) } else { Err(Violation::ProposalClosed { proposal: number }) }
    }

    fn valid_round(&self, number: u32) -> Result<&Round, Violation> {
        let (_, round) = self.round_at(number).ok_or_else(|| self.no_round(number))?;
        if round.void.is_some() { Err(Violation::RoundIsVoid { round: number }) } else { Ok(round) }
    }

    fn no_round(&self, round: u32) -> Violation {
        Violation::NoRound { round, rounds: self.rounds.len() as u32 }
    }

    fn seat(&self, seat: Seat) -> Result<Seat, Violation> {
        let format = self.setup.format;
        if format.has(seat) { Ok(seat) } else { Err(Violation::Seat { format, seat }) }
    }

    fn side(&self, party: Party) -> Result<(), Violation> {
        let format = self.setup.format;
        if party.index() < format.sides() { Ok(()) } else { Err(Violation::NoSide { format, party }) }
    }
}

fn create(setup: &Setup) -> Result<Vec<Event>, Violation> {
    setup.rules.check().map_err(Violation::Rules)?;
    let format = setup.format;
    if setup.sides.len() != format.sides() {
        return Err(Violation::Sides { format, needed: format.sides(), found: setup.sides.len() });
    }
    for (party, info) in format.parties().iter().zip(&setup.sides) {
        check_side(format, *party, info)?;
    }
    let context = &setup.context;
    let refs = context.refs.iter().flat_map(|(key, value)| [key, value]);
    for text in context.event.iter().chain([&setup.rules_name]).chain(refs) {
        presentable(text, "the match's description")?;
    }
    if !format.has(setup.first) {
        return Err(Violation::Seat { format, seat: setup.first });
    }
    Ok(vec![Event::MatchCreated(Box::new(setup.clone()))])
}

fn check_side(format: Format, party: Party, info: &SideInfo) -> Result<(), Violation> {
    let needed = format.players(party);
    if info.players.len() != needed {
        return Err(Violation::Players { format, party, needed, found: info.players.len() });
    }
    if info.players.iter().any(|player| player.name.trim().is_empty()) {
        return Err(Violation::Unnamed { party });
    }
    info.players
        .iter()
        .flat_map(|player| [Some(&player.name), player.cid.as_ref()])
        .flatten()
        .chain(&info.colour)
        .try_for_each(|text| presentable(text, "a player or a colour"))
}

/// Most characters of a name.
const LONGEST_NAME: usize = 200;

/// A name goes to screens, tables and files as it is: one line, of a length that can be read, nothing that steers a terminal.
fn presentable(text: &str, what: &'static str) -> Result<(), Violation> {
    let long = text.chars().nth(LONGEST_NAME).is_some();
    if long || text.contains(char::is_control) {
        return Err(Violation::Unpresentable { what, most: LONGEST_NAME });
    }
    Ok(())
}

fn needed(reason: &str) -> Result<String, Violation> {
    let reason: String = reason.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if reason.is_empty() { Err(Violation::NoReason) } else { Ok(reason) }
}

fn over(how: crate::score::standing::How) -> Violation {
    Violation::MatchOver { how: how.words().to_owned() }
}
