//! Many jobs on a few threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use anyhow::Result;

/// Does `work` on every job with `threads` cores, and gives each outcome with the job's index to `take`, in the order in
/// which they are done. With fewer jobs than threads the stages inside one job share what is left over. Once `stop` is
/// set, no further job is begun.
///
/// # Errors
/// Of `take`. Jobs not begun by then are left out.
pub fn spread<J: Sync, R: Send>(
    threads: usize,
    jobs: &[J],
    stop: &AtomicBool,
    work: impl Fn(&J) -> R + Sync,
    mut take: impl FnMut(usize, R) -> Result<()>,
) -> Result<()> {
    let workers = threads.min(jobs.len()).max(1);
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (send, next, work) = (send.clone(), &next, &work);
            // The first threads share what does not divide.
            let share = threads / workers + usize::from(worker < threads % workers);
            scope.spawn(move || {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(share.max(1)).build();
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    let done = match &pool {
                        Ok(pool) => pool.install(|| work(job)),
                        Err(_) => work(job),
                    };
                    // A receiver that is gone wants no more.
                    if send.send((index, done)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        for (index, done) in receive {
            take(index, done)?;
        }
        Ok(())
    })
}

/// Processor cores of this machine.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
