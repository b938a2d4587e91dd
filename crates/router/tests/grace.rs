//! A router holds grace periods up only while its workers take turns. This is a program of its own: other tests' routers would hold them
//! up, too.

use clique_router as router;
use rcu::Domain;
use router::{Class, Classes, ConfigError, Cx, Element, Log, Options, Router};
use std::time::Duration;

/// Stops the driver in its first turn.
struct Stops;

impl Element for Stops {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.info().please_stop();
    }
}

static CLASSES: &[Class] = &[Class::new("Stops", |_| Ok(Box::new(Stops))).ports("0/0")];

fn build() -> Router {
    let config = "Stops";
    let parsed = lang::parse(config, "config", &[]);
    let known = Classes::new(CLASSES);
    let layout =
        router::layout(parsed.graph, &known, 2).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let options = Options { log: Log::Memory(Default::default()), ..Options::default() };
    let built = router::build(layout, config.to_owned(), &known, options);
    built.unwrap_or_else(|e| panic!("{}", lang::render_click(&e))).0
}

/// Whether all that was unlinked until now can be freed.
fn a_grace_period_ends() -> bool {
    let domain = Domain::global();
    domain.wait_for(domain.start(), Duration::from_secs(1))
}

/// Neither one that does not run yet nor one that has run, so that what another one frees is freed meanwhile.
#[test]
fn a_router_that_does_not_run_holds_no_grace_period_up() {
    let mut router = build();
    assert!(a_grace_period_ends(), "before it runs");
    router.run();
    assert!(a_grace_period_ends(), "after it has run");
    router.finish();
    assert!(a_grace_period_ends(), "at its end");
}
