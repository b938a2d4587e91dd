//! `--http`: the page and the interface for programs ([`http_api`]), for as long as the router runs.

use crate::console;
use crate::reload::ask_to_load;
use crate::swap::Current;
use control::ReloadService;
use http_api::{Listen, Server, Source, Token};
use std::path::PathBuf;

/// What the command line says of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) listen: Vec<Listen>,
    /// The file with the token; without one nothing can be written.
    pub(crate) token: Option<PathBuf>,
}

impl Places {
    /// Starts the servers, and says where they are. `reloads` takes configurations from those who have the token.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn start(
        &self,
        current: &Current,
        reloads: Option<&ReloadService>,
    ) -> Result<Vec<Server>, String> {
        let token = self.token.as_deref().map(Token::read).transpose()?;
        let serve = |listen: &Listen| {
            let (current, reloads) = (current.clone(), reloads.cloned());
            let source = Source {
                current: Box::new(move || Some(current.handle())),
                replace: reloads.map(|reloads| -> http_api::Replace {
                    Box::new(move |wanted| {
                        ask_to_load(&reloads, wanted.text, wanted.dry_run, wanted.confirm_s)
                    })
                }),
            };
            let server =
                http_api::start_telling(listen.clone(), token.clone(), source, control::observe::step)
                    .map_err(|error| error.to_string())?;
            console::tell(&format!("clique: the page is at {}\n", server.listen));
            Ok(server)
        };
        self.listen.iter().map(serve).collect()
    }
}
