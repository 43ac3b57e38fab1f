//! A network camera on loopback: a server of Motion JPEG that shows what it is told to.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// JPEGs that are shown one after another, over and over.
pub type Frames = Arc<Vec<Vec<u8>>>;

/// What the camera shows; no frames at all while it fails.
#[derive(Default)]
struct Stage {
    frames: Option<Frames>,
    since: Option<Instant>,
}

/// The camera.
pub struct Camera {
    /// Its address.
    pub address: String,
    stage: Arc<Mutex<Stage>>,
}

impl Camera {
    /// A camera that sends so many frames a second and no more.
    pub fn start(fps: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}/camera", listener.local_addr().expect("an address"));
        let stage = Arc::new(Mutex::new(Stage::default()));
        let own = Arc::clone(&stage);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // The program may hang up and ask again.
                let _ = serve(stream, &own, fps);
            }
        });
        Self { address, stage }
    }

    /// Shows these frames from now on.
    pub fn show(&self, frames: &Frames) {
        *lock(&self.stage) = Stage { frames: Some(Arc::clone(frames)), since: None };
    }

    /// Sends nothing any more, as a camera whose network fails.
    pub fn fail(&self) {
        *lock(&self.stage) = Stage::default();
    }

    /// When the first of the present frames was sent.
    pub fn shown_since(&self) -> Option<Instant> {
        lock(&self.stage).since
    }
}

fn lock(stage: &Mutex<Stage>) -> MutexGuard<'_, Stage> {
    stage.lock().expect("no thread dies with it")
}

fn serve(mut stream: TcpStream, stage: &Mutex<Stage>, fps: u64) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = BufReader::new(stream.try_clone()?).lines();
    while request.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=frame\r\n\r\n")?;
    let start = Instant::now();
    for number in 0u64.. {
        let due = start + Duration::from_micros(number * 1_000_000 / fps);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let frames = {
            let mut stage = lock(stage);
            stage.since.get_or_insert_with(Instant::now);
            stage.frames.clone()
        };
        let Some(frames) = frames else { continue };
        let jpeg = &frames[number as usize % frames.len()];
        write!(stream, "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", jpeg.len())?;
        stream.write_all(jpeg)?;
        stream.write_all(b"\r\n")?;
    }
    Ok(())
}
