//! A brake on photos that one address sends, beside the queue in which all photos wait.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Photos that an address may send at once.
pub const BURST: u32 = 100;
/// Photos a second that it may send on and on.
const RATE: f64 = 2.0;
/// Addresses that are remembered before those that rest are forgotten.
const MOST: usize = 10_000;

/// What each address may still send: a bucket that fills again by and by.
#[derive(Debug, Default)]
pub struct Limit {
    buckets: Mutex<HashMap<IpAddr, (f64, Instant)>>,
}

impl Limit {
    /// Lets one photo of this address pass.
    ///
    /// # Errors
    /// Too many came from there: how long to wait.
    pub fn take(&self, from: IpAddr) -> Result<(), Duration> {
        self.take_at(from, Instant::now())
    }

    fn take_at(&self, from: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let filled = |(left, since): (f64, Instant)| {
            (left + RATE * now.saturating_duration_since(since).as_secs_f64()).min(f64::from(BURST))
        };
        if buckets.len() >= MOST {
            buckets.retain(|_, bucket| filled(*bucket) < f64::from(BURST));
        }
        let bucket = buckets.entry(household(from)).or_insert((f64::from(BURST), now));
        let left = filled(*bucket);
        if left < 1.0 {
            *bucket = (left, now);
            return Err(Duration::from_secs_f64((1.0 - left) / RATE));
        }
        *bucket = (left - 1.0, now);
        Ok(())
    }
}

/// Who has one address of version 6 has all that share its first half.
fn household(from: IpAddr) -> IpAddr {
    match from {
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => IpAddr::V4(ip),
            None => IpAddr::V6(Ipv6Addr::from(u128::from(ip) >> 64 << 64)),
        },
        ip => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_send_many_at_once_and_then_by_and_by() {
        let limit = Limit::default();
        let start = Instant::now();
        let (one, neighbour, other): (IpAddr, IpAddr, IpAddr) =
            ("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap(), "2001:db8:1::1".parse().unwrap());
        assert!((0..BURST).all(|_| limit.take_at(one, start).is_ok()));
        assert_eq!(limit.take_at(one, start), Err(Duration::from_millis(500)));
        assert!(limit.take_at(neighbour, start).is_err(), "another address of the same computer");
        assert!(limit.take_at(other, start).is_ok());
        let later = start + Duration::from_secs(2);
        let passed = (0..10).filter(|_| limit.take_at(one, later).is_ok()).count();
        assert_eq!(passed, 4);
    }
}
