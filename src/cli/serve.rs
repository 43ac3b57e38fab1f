//! `crokeye serve`: scoreboards, referee pages and API beside the boards.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use crokeye::capture::feed::{Feed, Folder};
use crokeye::capture::sample::{self, Sample};
use crokeye::capture::source::Source;
use crokeye::http::access::{self, Access};
use crokeye::http::limit::Limit;
use crokeye::http::{App, MAX_PIXELS, PHOTO_QUEUE, router, serve};
use crokeye::service::audits::Audits;
use crokeye::service::board::{Board, Eye, Open, Wishes};
use crokeye::service::connectors::{Connectors, Place};
use crokeye::service::counter::Counter;
use crokeye::service::hall::{Hall, Table};
use crokeye::service::hub::Hub;
use crokeye::service::new_match::NewMatch;
use crokeye::service::referee::{Referee, Seat};
use crokeye::service::setup::{Camera, Chosen, Opener, Setup};
use crokeye::store::Store;
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::config::{Effective, Flags, Plan, plans};
use super::match_log::Common;
use super::out::outln;

/// Show the score, let a person decide what is close, and tell other programs.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crokeye serve                                  the first camera that works; without one a sample round is played
  crokeye serve --source sample                  try it out: watch the round, settle its close call, undo it
  crokeye serve --source rtsp://cam/stream --match 7
  crokeye serve --source http://192.168.1.30:8080/video --auto-accept    a phone as camera; clear rounds count at once
  crokeye serve --config hall.toml               several boards; crokeye config --example > hall.toml
  crokeye serve --hash-password >> passwords     asks for a password, writes it as a line for the referee
  crokeye serve --listen 0.0.0.0 --password-file passwords     for the phones and screens of the hall

Pages: / scoreboard (?projector, ?board=2), /boards, /overlay for OBS, /referee, /history. API: /api/v1; see docs/serve.md.
Every flag may stand in the configuration or in a variable, CROKEYE_PORT for --port; `crokeye config` shows what holds.
Sample rounds go into a database of their own. Ctrl-C ends it; whatever was acknowledged is on disk.
Exit status: 0 ended by Ctrl-C, 2 usage, a port that is taken, an unreadable source or database.")]
pub struct ServeArgs {
    /// Read a password from stdin, print its line for a password file, and stop. For a viewer change the word before the
    /// colon.
    #[arg(long, exclusive = true)]
    hash_password: bool,

    #[command(flatten)]
    flags: Flags,
}

/// How long the referee may take for its last orders.
const LAST_ORDERS: Duration = Duration::from_secs(10);

/// Runs `crokeye serve`.
///
/// # Errors
/// The configuration is not understood, the port is taken, a source is none, or the database cannot be opened.
pub fn run(args: &ServeArgs) -> Result<ExitCode> {
    if args.hash_password {
        return hash_password();
    }
    let effective = Effective::read(&args.flags)?;
    let access = access(&effective)?;
    let plans = with_sources(plans(&effective)?);
    let (stop, closing) = watch::channel(false);
    ctrlc::set_handler(move || {
        stop.send_replace(true);
    })
    .context("cannot listen for Ctrl-C")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(until_closed(&effective, plans, access, closing))?;
    runtime.shutdown_timeout(Duration::from_secs(2));
    Ok(ExitCode::SUCCESS)
}

async fn until_closed(
    effective: &Effective,
    plans: Vec<Plan>,
    access: Arc<Access>,
    closing: watch::Receiver<bool>,
) -> Result<()> {
    let house = &effective.house;
    plans.iter().try_for_each(|plan| wishes(plan).map(drop))?;
    let (ip, port) = listen(effective)?;
    let listener = TcpListener::bind(SocketAddr::new(ip, port))
        .await
        .with_context(|| format!("cannot listen at {ip} port {port}: choose another with --port"))?;
    let address = listener.local_addr()?;
    let store = Store::open(&database(house.db.clone(), &plans)?).await?;
    let run = Timestamp::now().as_microsecond().unsigned_abs();
    let mut seats = Vec::new();
    for (at, plan) in (0..).zip(&plans) {
        let named = match &plan.match_id {
            Some(id) => Some(store.find(id).await?),
            None => None,
        };
        let (board, accept) = (plan.label.id.clone(), house.auto_accept == Some(true));
        seats.push(Seat { board, hub: Hub::new(run + at), named, accept });
    }
    let hubs: Vec<Arc<Hub>> = seats.iter().map(|seat| Arc::clone(&seat.hub)).collect();
    let (referees, task) = Referee::start(store.clone(), seats).await?;
    let mut setups = store.setups().await?;
    let mut tables = Vec::new();
    for (at, ((plan, hub), referee)) in plans.iter().zip(hubs).zip(referees).enumerate() {
        if plan.is_sample() && referee.play().borrow().number.is_none() {
            referee.start_match(sample_match()?, "sample").await?;
        }
        let kept = setups.remove(&plan.label.id);
        let mut chosen: Chosen = kept.and_then(|kept| serde_json::from_str(&kept).ok()).unwrap_or_default();
        if effective.origin(&format!("board.{at}.source")).starts_with("--") {
            // What is said at the start goes before what was chosen earlier.
            chosen = Chosen { source: None, size: None, fps: None, ..chosen };
        }
        let source = plan.source.clone().unwrap_or_default();
        let (setup, wishes) = Setup::new(opener(plan.clone()), source, chosen).map_err(anyhow::Error::msg)?;
        let board = Board::start(plan.label.clone(), wishes, Arc::clone(&hub), referee.clone())?;
        tables.push(Arc::new(Table { label: plan.label.clone(), hub, referee, board, setup }));
    }
    let places = tables.iter().map(|table| Place { id: table.label.id.clone(), hub: Arc::clone(&table.hub) }).collect();
    let connectors = Connectors::start(&effective.house.connectors(), places, &store, &closing).await?;
    let connectors = Arc::new(connectors);
    let hall = Arc::new(Hall::new(tables));
    let app = Arc::new(App {
        store: store.clone(),
        hall: Arc::clone(&hall),
        counter: Counter::new(PHOTO_QUEUE, MAX_PIXELS),
        connectors: Arc::clone(&connectors),
        audits: Audits::new().context("no place for temporary files: set TMPDIR to a folder that can be written")?,
        uploads: Limit::default(),
        access,
        public_scoreboard: house.public_scoreboard == Some(true),
        closing: closing.clone(),
    });
    say(&plans, address);
    serve(listener, router(app), closing).await;
    tokio::task::spawn_blocking(move || hall.stop()).await?;
    if tokio::time::timeout(LAST_ORDERS, task).await.is_err() {
        tracing::error!("the last orders are not written");
    }
    connectors.ended().await;
    store.close().await;
    Ok(())
}

/// Says where everything is.
fn say(plans: &[Plan], address: SocketAddr) {
    outln!("Scoreboard  http://{address}/");
    outln!("Referee     http://{address}/referee");
    let source = |plan: &Plan| described(plan.source.as_deref().unwrap_or_default());
    match plans {
        [plan] => outln!("Board       {}", source(plan)),
        several => {
            outln!("All boards  http://{address}/boards");
            for plan in several {
                let id = &plan.label.id;
                outln!("Board {id:<5} http://{address}/?board={id}   {}", source(plan));
            }
        }
    }
}

/// Where to listen.
fn listen(effective: &Effective) -> Result<(std::net::IpAddr, u16)> {
    let house = &effective.house;
    Ok((house.listen.context("no address to listen at")?, house.port.context("no port")?))
}

/// Who may do what; refuses to be open to others without a password.
fn access(effective: &Effective) -> Result<Arc<Access>> {
    let (ip, _) = listen(effective)?;
    let Some(path) = &effective.house.password_file else {
        ensure!(
            ip.is_loopback(),
            "{ip} ({}) can be reached from other computers: give --password-file (`crokeye serve --hash-password` makes a \
             line of it), or listen at 127.0.0.1",
            effective.origin("listen")
        );
        return Ok(Access::open());
    };
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    Access::from_file(&text).with_context(|| path.display().to_string())
}

fn hash_password() -> Result<ExitCode> {
    eprint!("Password: ");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("reading the password")?;
    let password = line.trim_end_matches(['\r', '\n']);
    ensure!(password.chars().count() >= 8, "a password has at least 8 characters");
    let hash = access::hash(password).map_err(|error| anyhow::anyhow!("the password cannot be hashed: {error}"))?;
    outln!("referee:{hash}");
    Ok(ExitCode::SUCCESS)
}

/// The database; rounds of the sample are kept apart from those that were played.
pub(super) fn database(named: Option<PathBuf>, plans: &[Plan]) -> Result<PathBuf> {
    let apart = named.is_none() && plans.iter().all(Plan::is_sample);
    let path = Common { db: named, json: false, author: None }.path()?;
    Ok(if apart { path.with_file_name("crokeye-sample.db") } else { path })
}

/// A match for those who try it out, with the colours of the sample's discs.
fn sample_match() -> Result<crokeye::score::event::Setup> {
    let wanted = NewMatch {
        sides: vec!["Ann".to_owned(), "Bob".to_owned()],
        rules: "nca".to_owned(),
        first: "A".to_owned(),
        colours: sample::SIDES.map(str::to_owned).to_vec(),
        ..NewMatch::default()
    };
    Ok(wanted.setup()?)
}

/// The plans with a source for each: where none is said the first camera that works, else the sample.
fn with_sources(mut plans: Vec<Plan>) -> Vec<Plan> {
    for plan in plans.iter_mut().filter(|plan| plan.source.is_none()) {
        plan.source = Some(first_camera().map_or_else(|| sample::NAME.to_owned(), |number| number.to_string()));
    }
    plans
}

/// Opens what is chosen in place of what is planned.
fn opener(plan: Plan) -> Opener {
    Arc::new(move |camera: &Camera, try_it: bool| {
        let planned = Plan {
            source: camera.source.clone().or_else(|| plan.source.clone()),
            size_px: camera.size_px.or(plan.size_px),
            fps: camera.fps.or(plan.fps),
            ..plan.clone()
        };
        let wishes = wishes(&planned).map_err(|error| format!("{error:#}"))?;
        match &wishes.eye {
            Eye::Finite { open, .. } if try_it => drop(open()?),
            #[cfg(feature = "opencv")]
            Eye::Camera { source, wishes } if try_it => {
                crokeye::capture::live::open(source, wishes).map_err(|error| error.to_string())?;
            }
            _ => {}
        }
        Ok(wishes)
    })
}

/// Where a board's frames come from, and how it is looked at.
fn wishes(plan: &Plan) -> Result<Wishes> {
    let finite = |name: String, open: Open, again: bool| Wishes {
        name,
        eye: Eye::Finite { open, again, speed: plan.speed },
        look: plan.look.clone(),
    };
    if plan.is_sample() {
        let open: Open = Arc::new(|| boxed(Sample::open(Timestamp::now().as_microsecond().unsigned_abs())));
        return Ok(finite(sample::NAME.to_owned(), open, true));
    }
    Ok(match plan.source.as_deref().unwrap_or_default().parse()? {
        Source::Folder(path) => {
            let fps = plan.fps.unwrap_or(super::watch::FOLDER_FPS);
            Folder::open(&path, fps)?;
            let name = path.display().to_string();
            let open: Open = Arc::new(move || boxed(Folder::open(&path, fps)));
            finite(name, open, false)
        }
        Source::File(path) => {
            let (name, open) = video(path)?;
            finite(name, open, false)
        }
        source @ (Source::Camera(_) | Source::Address(_)) => camera(plan, source)?,
    })
}

fn boxed<F: Feed + 'static, E: std::fmt::Display>(feed: Result<F, E>) -> Result<Box<dyn Feed>, String> {
    feed.map(|feed| Box::new(feed) as Box<dyn Feed>).map_err(|error| error.to_string())
}

#[cfg(feature = "opencv")]
fn described(source: &str) -> String {
    match source.parse() {
        Ok(source @ (Source::Camera(_) | Source::Address(_))) => crokeye::capture::camera::described(&source),
        _ => source.to_owned(),
    }
}

#[cfg(feature = "opencv")]
fn first_camera() -> Option<u32> {
    use crokeye::capture::live;
    let there =
        |number: &u32| !cfg!(target_os = "linux") || std::path::Path::new(&format!("/dev/video{number}")).exists();
    let works = |number: &u32| live::open(&Source::Camera(*number), &live::Wishes::default()).is_ok();
    (0..8).filter(there).find(works)
}

#[cfg(feature = "opencv")]
fn video(path: PathBuf) -> Result<(String, Open)> {
    use crokeye::capture::video::Video;
    Video::open(&path)?;
    let name = path.display().to_string();
    Ok((name, Arc::new(move || boxed(Video::open(&path)))))
}

#[cfg(feature = "opencv")]
fn camera(plan: &Plan, source: Source) -> Result<Wishes> {
    use crokeye::capture::profile::Profile;
    use crokeye::capture::{camera, live};
    let profile = plan.look.calibration.as_deref().map(Profile::load_or_new).transpose()?.unwrap_or_default();
    let wishes = live::Wishes {
        size_px: plan.size_px.or(profile.size_px),
        fps: plan.fps,
        controls: profile.controls,
        lock: true,
    };
    Ok(Wishes { name: camera::described(&source), eye: Eye::Camera { source, wishes }, look: plan.look.clone() })
}

#[cfg(not(feature = "opencv"))]
fn described(source: &str) -> String {
    source.to_owned()
}

#[cfg(not(feature = "opencv"))]
fn first_camera() -> Option<u32> {
    None
}

#[cfg(not(feature = "opencv"))]
fn video(_: PathBuf) -> Result<(String, Open)> {
    anyhow::bail!(super::watch::NO_CAMERAS)
}

#[cfg(not(feature = "opencv"))]
fn camera(_: &Plan, _: Source) -> Result<Wishes> {
    anyhow::bail!(super::watch::NO_CAMERAS)
}
