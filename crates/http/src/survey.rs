//! What workers said last. They are asked five times a second at most, however many clients there are.

use router::{Handle, HandlerError, Survey, Surveyor};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How old an answer may be.
const FRESH: Duration = Duration::from_millis(200);
/// How long workers may take to answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// Asks workers, and keeps the answers for a moment.
#[derive(Default)]
pub(crate) struct Surveys {
    surveyor: Option<Surveyor>,
    last: Option<(Instant, Arc<Survey>)>,
}

impl Surveys {
    /// The state of a router, at most a fifth of a second old.
    ///
    /// # Errors
    /// It has stopped.
    pub(crate) fn read(this: &Mutex<Surveys>, handle: &Handle) -> Result<Arc<Survey>, HandlerError> {
        // Others wait here, and are told the same.
        let mut this = this.lock().unwrap_or_else(PoisonError::into_inner);
        let same = this.surveyor.as_ref().is_some_and(|known| Arc::ptr_eq(known.info(), handle.info()));
        if !same {
            (this.surveyor, this.last) = (Some(Surveyor::new(handle.clone())), None);
        }
        if let Some((at, survey)) = &this.last
            && at.elapsed() < FRESH
        {
            return Ok(survey.clone());
        }
        let surveyor = this.surveyor.get_or_insert_with(|| Surveyor::new(handle.clone()));
        let survey = Arc::new(surveyor.survey(PATIENCE)?);
        this.last = Some((Instant::now(), survey.clone()));
        Ok(survey)
    }
}
