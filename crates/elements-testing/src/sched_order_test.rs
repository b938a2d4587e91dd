//! Records the order in which tasks run.
//!
//! ```click
//! SchedOrderTest(ID [, KEYWORDS])
//! ```
//!
//! All SchedOrderTest elements of a router schedule themselves repeatedly. At each run they append their ID to one
//! common list, until it is full. ScheduleInfo sets their tickets.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `ID` (integer): the number to record.
//! - `SIZE` (integer, default 1024): the length of the list; the largest value given to any of the elements counts.
//! - `LIMIT` (integer, default 0): the maximum number of runs; 0 means no limit.
//! - `STOP` (boolean, default false): whether to stop the driver once the list is full.
//!
//! # Handlers
//! - `order` (read): the list, with spaces between the IDs.
//!
//! # Example
//! ```click
//! a :: SchedOrderTest(1, SIZE 100, STOP true); b :: SchedOrderTest(2);
//! ScheduleInfo(a 1, b 2);
//! DriverManager(pause, print a.order)
//! ```
//!
//! # See also
//! ScheduleInfo, StrideSched

use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The class.
pub(crate) const CLASS: Class = Class::new("SchedOrderTest", create)
    .ports("0/0")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .doc(router::manual!("sched_order_test.rs"));

/// The length of the list unless the user says otherwise.
const DEFAULT_SIZE: usize = 1024;

/// The common list: that of the first element of the class. Nothing but these elements' tasks locks it.
#[derive(Default)]
struct RunLog {
    ids: Mutex<Vec<i32>>,
    size: AtomicUsize,
}

impl RunLog {
    fn ids(&self) -> MutexGuard<'_, Vec<i32>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an ID; false if the list is full.
    fn note(&self, id: i32) -> bool {
        let size = match self.size.load(Ordering::Relaxed) {
            0 => DEFAULT_SIZE,
            size => size,
        };
        let mut ids = self.ids();
        let room = ids.len() < size;
        if room {
            ids.push(id);
        }
        room
    }
}

struct SchedOrderTest {
    id: i32,
    size: usize,
    limit: u32,
    count: u32,
    stop: bool,
    order: Arc<RunLog>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut id, mut size, mut limit, mut stop) = (0, 0i32, 0, false);
    config
        .args()
        .required("ID", &mut id)
        .keyword("SIZE", &mut size)
        .keyword("STOP", &mut stop)
        .keyword("LIMIT", &mut limit)
        .finish()?;
    let order = config.shared(|| Ok(RunLog::default()))?;
    let size = usize::try_from(size).unwrap_or(0);
    Ok(Box::new(SchedOrderTest { id, size, limit, count: 0, stop, order }))
}

impl Element for SchedOrderTest {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let first = cx.info().nodes.iter().position(|node| node.class.name == CLASS.name);
        if let Some(order) = first.and_then(|first| cx.info().shared(first)) {
            self.order = order;
        }
        self.order.size.fetch_max(self.size, Ordering::Relaxed);
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if !self.order.note(self.id) && self.stop {
            cx.info().please_stop();
        }
        self.count = self.count.saturating_add(1);
        if self.limit == 0 || self.count < self.limit {
            cx.tasks().schedule();
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("order", |e: &mut SchedOrderTest, _| {
            let ids: Vec<String> = e.order.ids().iter().map(ToString::to_string).collect();
            ids.join(" ") + "\n"
        });
    }
}
