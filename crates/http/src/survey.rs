//! What workers said last. They are asked five times a second at most, however many clients there are.

use router::{Handle, HandlerError, Survey, Surveyor};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How old an answer may be.
const FRESH: Duration = Duration::from_millis(200);
/// How long workers may take to answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// What workers said, and when.
pub(crate) struct Answer {
    survey: Survey,
    /// Milliseconds since the first answer, by a clock that is never set.
    pub(crate) at_ms: u64,
}

impl Deref for Answer {
    type Target = Survey;

    fn deref(&self) -> &Survey {
        &self.survey
    }
}

/// Asks workers, and keeps the answers for a moment.
#[derive(Default)]
pub(crate) struct Surveys {
    surveyor: Option<Surveyor>,
    last: Option<(Instant, Arc<Answer>)>,
    began: Option<Instant>,
}

impl Surveys {
    /// The state of a router, at most a fifth of a second old.
    ///
    /// # Errors
    /// It has stopped.
    pub(crate) fn read(this: &Mutex<Surveys>, handle: &Handle) -> Result<Arc<Answer>, HandlerError> {
        // Others wait here, and are told the same.
        let mut this = this.lock().unwrap_or_else(PoisonError::into_inner);
        let same = this.surveyor.as_ref().is_some_and(|known| Arc::ptr_eq(known.info(), handle.info()));
        if !same {
            (this.surveyor, this.last) = (Some(Surveyor::new(handle.clone())), None);
        }
        if let Some((at, answer)) = &this.last
            && at.elapsed() < FRESH
        {
            return Ok(answer.clone());
        }
        let surveyor = this.surveyor.get_or_insert_with(|| Surveyor::new(handle.clone()));
        let survey = surveyor.survey(PATIENCE)?;
        let now = Instant::now();
        let began = *this.began.get_or_insert(now);
        let at_ms = u64::try_from(now.duration_since(began).as_millis()).unwrap_or(u64::MAX);
        let answer = Arc::new(Answer { survey, at_ms });
        this.last = Some((now, answer.clone()));
        Ok(answer)
    }
}
