//! Takes a sample of the history every ten seconds.

use crate::history::Sample;
use crate::shared::Shared;
use crate::survey::Surveys;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// From one sample to the next.
const STEP: Duration = Duration::from_secs(10);

/// Takes samples for ever.
pub(crate) async fn record(shared: Arc<Shared>) {
    let mut ticks = tokio::time::interval(STEP);
    loop {
        ticks.tick().await;
        let shared = shared.clone();
        let sample = move || {
            let handle = (shared.source.current)()?;
            let survey = Surveys::read(&shared.surveys, &handle).ok()?;
            shared.history.lock().unwrap_or_else(PoisonError::into_inner).push(Sample::of(&survey));
            Some(())
        };
        // A router that is being replaced has no state: the next sample has.
        let _ = tokio::task::spawn_blocking(sample).await;
    }
}
