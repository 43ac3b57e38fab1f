//! Connections: how many, how long a head may take and how large it may be, and how they end.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use tower_http::add_extension::AddExtension;

/// Connections at once; more wait for one to end.
const CONNECTIONS: u32 = 1_024;
/// How long the head of a request may take, and an idle connection may stay.
const HEAD: Duration = Duration::from_secs(15);
/// Most header lines of a request.
const HEADERS: usize = 64;
/// Largest head of a request, bytes.
const HEAD_BYTES: usize = 32 << 10;
/// How long what was begun may take to end.
const GRACE: Duration = Duration::from_secs(8);

/// Answers requests until `closing` turns true; then what was begun is ended.
/// A connection that fails is one client's trouble.
pub async fn serve(listener: TcpListener, router: Router, mut closing: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS as usize));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = closed(&mut closing) => break,
        };
        let (stream, from): (_, SocketAddr) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: some will be given back.
                tracing::warn!(%error, "a connection cannot be taken");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(AddExtension::new(router.clone(), ConnectInfo(from)));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_headers(HEADERS)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        let mut closing = closing.clone();
        tokio::spawn(async move {
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => Some(ended),
                () = closed(&mut closing) => None,
            };
            let ended = match ended {
                Some(ended) => ended,
                None => {
                    // The request that is being answered is answered; no other is taken.
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(place);
        });
    }
    drop(listener);
    if timeout(GRACE, places.acquire_many(CONNECTIONS)).await.is_err() {
        tracing::warn!("some connections did not end by themselves");
    }
}

/// Waits until the program is asked to end, or nobody is there any more who could ask.
async fn closed(closing: &mut watch::Receiver<bool>) {
    let _ = closing.wait_for(|closing| *closing).await;
}
