//! From a configuration's text to a router that can run.

use router::{Classes, Options, Router};

/// A router of a configuration with its parameters, of these classes. Warnings are not shown.
///
/// # Errors
/// Everything that is wrong, as Click's driver says it.
pub(crate) fn build(
    (name, config): (&str, &str),
    parameters: &[(String, String)],
    known: &Classes,
    options: Options,
) -> Result<Router, String> {
    let parsed = lang::parse(config, name, parameters);
    if parsed.has_errors() {
        return Err(parsed.render_click());
    }
    let layout = router::layout(parsed.graph, known, options.workers).map_err(|e| lang::render_click(&e))?;
    let (router, _) =
        router::build(layout, config.to_owned(), known, options).map_err(|e| lang::render_click(&e))?;
    Ok(router)
}
