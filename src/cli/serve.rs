//! `crokeye serve`: scoreboard, referee page and API beside the board.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use crokeye::capture::LensHint;
use crokeye::capture::feed::{Feed, Folder};
use crokeye::capture::sample::{self, Sample};
use crokeye::capture::source::Source;
use crokeye::http::access::{self, Access};
use crokeye::http::{App, MAX_PIXELS, PHOTO_QUEUE, router, serve};
use crokeye::service::audits::Audits;
use crokeye::service::board::{Board, Eye, Open, Wishes};
use crokeye::service::counter::Counter;
use crokeye::service::hub::Hub;
use crokeye::service::new_match::NewMatch;
use crokeye::service::referee::Referee;
use crokeye::store::Store;
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::watch;

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
  crokeye serve --hash-password >> passwords     asks for a password, writes it as a line for the referee
  crokeye serve --listen 0.0.0.0 --password-file passwords     for the phones and screens of the hall

Pages: / scoreboard (?projector), /overlay for OBS, /referee, /history. API: /api/v1; see docs/serve.md.
Sample rounds go into a database of their own. Ctrl-C ends it; whatever was acknowledged is on disk.
Exit status: 0 ended by Ctrl-C, 2 usage, a port that is taken, an unreadable source or database.")]
pub struct ServeArgs {
    /// Address to listen at; beyond this computer only with a password file.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,

    /// Port; 0 for any that is free.
    #[arg(long, value_name = "PORT", default_value_t = 8080)]
    port: u16,

    /// Camera number, /dev/videoN, rtsp:// or http:// (MJPEG) address, video file, folder of frames, or `sample`
    /// [default: the first camera that works, else sample].
    #[arg(long, short, value_name = "SOURCE")]
    source: Option<String>,

    /// Frames a second of a folder; of a camera, what to ask it for.
    #[arg(long, value_name = "N", value_parser = fps)]
    fps: Option<f64>,

    /// Picture size to ask a camera for.
    #[arg(long, value_name = "WxH", value_parser = super::snap::size)]
    size: Option<(u32, u32)>,

    /// Horizontal field of view of a camera whose pictures have the size given with --size, degrees.
    #[arg(long, value_name = "DEGREES", value_parser = super::count::fov, requires = "size")]
    fov: Option<f64>,

    /// Play a video, folder or the sample so many times faster than its clock.
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, value_parser = speed)]
    speed: f64,

    /// The match to play [default: the newest, if it is not over].
    #[arg(long = "match", value_name = "ID")]
    match_id: Option<String>,

    /// Take a round at once when nothing is close and nothing needs review.
    #[arg(long)]
    auto_accept: bool,

    /// The database of matches [default: the one of `crokeye match`].
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,

    /// Passwords of viewers and referees, a line each as --hash-password writes it.
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,

    /// Read a password from stdin, print its line for a password file, and stop. For a viewer change the word before the
    /// colon.
    #[arg(long, exclusive = true)]
    hash_password: bool,
}

/// How long the referee may take for its last orders.
const LAST_ORDERS: Duration = Duration::from_secs(10);

/// Runs `crokeye serve`.
///
/// # Errors
/// The port is taken, the source is none, or the database cannot be opened.
pub fn run(args: &ServeArgs) -> Result<ExitCode> {
    if args.hash_password {
        return hash_password();
    }
    let access = access(args)?;
    let filter = tracing_subscriber::EnvFilter::try_from_default_env();
    let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    // A program that set one up before keeps its own.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
    let (stop, closing) = watch::channel(false);
    ctrlc::set_handler(move || {
        stop.send_replace(true);
    })
    .context("cannot listen for Ctrl-C")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(until_closed(args, access, closing))?;
    runtime.shutdown_timeout(Duration::from_secs(2));
    Ok(ExitCode::SUCCESS)
}

async fn until_closed(args: &ServeArgs, access: Arc<Access>, closing: watch::Receiver<bool>) -> Result<()> {
    let wishes = wishes(args)?;
    let is_sample = wishes.name == sample::NAME;
    let listener = TcpListener::bind(SocketAddr::new(args.listen, args.port))
        .await
        .with_context(|| format!("cannot listen at {} port {}: choose another with --port", args.listen, args.port))?;
    let address = listener.local_addr()?;
    let store = Store::open(&database(args, is_sample)?).await?;
    let named = match &args.match_id {
        Some(id) => Some(store.find(id).await?),
        None => None,
    };
    let hub = Hub::new(Timestamp::now().as_microsecond().unsigned_abs());
    let (referee, task) = Referee::start(store.clone(), Arc::clone(&hub), named, args.auto_accept).await?;
    if is_sample && referee.play().borrow().number.is_none() {
        referee.start_match(sample_match()?, "sample").await?;
    }
    let source = wishes.name.clone();
    let board = Arc::new(Board::start(wishes, Arc::clone(&hub), referee.clone())?);
    let app = Arc::new(App {
        store: store.clone(),
        hub,
        referee,
        board: Arc::clone(&board),
        counter: Counter::new(PHOTO_QUEUE, MAX_PIXELS),
        audits: Audits::new().context("no place for temporary files: set TMPDIR to a folder that can be written")?,
        access,
        closing: closing.clone(),
    });
    outln!("Scoreboard  http://{address}/");
    outln!("Referee     http://{address}/referee");
    outln!("Board       {source}");
    serve(listener, router(app), closing).await;
    tokio::task::spawn_blocking(move || board.stop()).await?;
    if tokio::time::timeout(LAST_ORDERS, task).await.is_err() {
        tracing::error!("the last orders are not written");
    }
    store.close().await;
    Ok(())
}

/// Who may do what; refuses to be open to others without a password.
fn access(args: &ServeArgs) -> Result<Arc<Access>> {
    let Some(path) = &args.password_file else {
        ensure!(
            args.listen.is_loopback(),
            "{} can be reached from other computers: give --password-file (`crokeye serve --hash-password` makes a line \
             of it), or listen at 127.0.0.1",
            args.listen
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
fn database(args: &ServeArgs, is_sample: bool) -> Result<PathBuf> {
    let path = Common { db: args.db.clone(), json: false, author: None }.path()?;
    Ok(if is_sample && args.db.is_none() { path.with_file_name("crokeye-sample.db") } else { path })
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

/// Where frames come from.
fn wishes(args: &ServeArgs) -> Result<Wishes> {
    let named = args.source.as_deref().map(str::trim);
    let source = match named {
        Some(sample::NAME) => None,
        Some(text) => Some(text.parse::<Source>()?),
        None => first_camera(),
    };
    let uncropped = LensHint { uncropped: true, ..LensHint::default() };
    let lens = match (args.fov, args.size) {
        (Some(fov), Some((width, _))) => LensHint::from_fov(fov, width),
        _ => uncropped,
    };
    let finite = |name: String, open: Open, again: bool| Wishes {
        name,
        eye: Eye::Finite { open, again, speed: args.speed },
        lens,
    };
    Ok(match source {
        None => {
            let open: Open = Arc::new(|| boxed(Sample::open(Timestamp::now().as_microsecond().unsigned_abs())));
            finite(sample::NAME.to_owned(), open, true)
        }
        Some(Source::Folder(path)) => {
            let fps = args.fps.unwrap_or(super::watch::FOLDER_FPS);
            Folder::open(&path, fps)?;
            let name = path.display().to_string();
            let open: Open = Arc::new(move || boxed(Folder::open(&path, fps)));
            finite(name, open, false)
        }
        Some(Source::File(path)) => {
            let (name, open) = video(path)?;
            finite(name, open, false)
        }
        Some(source @ (Source::Camera(_) | Source::Address(_))) => camera(args, source, lens)?,
    })
}

fn boxed<F: Feed + 'static, E: std::fmt::Display>(feed: Result<F, E>) -> Result<Box<dyn Feed>, String> {
    feed.map(|feed| Box::new(feed) as Box<dyn Feed>).map_err(|error| error.to_string())
}

#[cfg(feature = "opencv")]
fn first_camera() -> Option<Source> {
    use crokeye::capture::live;
    let mut cameras = (0..8).map(Source::Camera).filter(|source| match source {
        Source::Camera(number) => {
            !cfg!(target_os = "linux") || std::path::Path::new(&format!("/dev/video{number}")).exists()
        }
        _ => false,
    });
    cameras.find(|source| live::open(source, &live::Wishes::default()).is_ok())
}

#[cfg(feature = "opencv")]
fn video(path: PathBuf) -> Result<(String, Open)> {
    use crokeye::capture::video::Video;
    Video::open(&path)?;
    let name = path.display().to_string();
    Ok((name, Arc::new(move || boxed(Video::open(&path)))))
}

#[cfg(feature = "opencv")]
fn camera(args: &ServeArgs, source: Source, lens: LensHint) -> Result<Wishes> {
    use crokeye::capture::{camera, live};
    let wishes = live::Wishes { size_px: args.size, fps: args.fps, controls: None, lock: true };
    Ok(Wishes { name: camera::described(&source), eye: Eye::Camera { source, wishes }, lens })
}

#[cfg(not(feature = "opencv"))]
fn first_camera() -> Option<Source> {
    None
}

#[cfg(not(feature = "opencv"))]
fn video(_: PathBuf) -> Result<(String, Open)> {
    anyhow::bail!(super::watch::NO_CAMERAS)
}

#[cfg(not(feature = "opencv"))]
fn camera(_: &ServeArgs, _: Source, _: LensHint) -> Result<Wishes> {
    anyhow::bail!(super::watch::NO_CAMERAS)
}

fn fps(text: &str) -> Result<f64, String> {
    super::count::within(text, 0.1..=240.0)
}

fn speed(text: &str) -> Result<f64, String> {
    super::count::within(text, 0.1..=100.0)
}
