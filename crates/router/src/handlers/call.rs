//! A call of a handler: where it goes and what it says.

use crate::text::args::{FromArg, Scope, parse_error};

/// A call of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// `element.handler`, or `handler` alone for a global one.
    pub path: String,
    /// Read or write.
    pub access: Access,
    /// The parameter of a read, or the value to write.
    pub argument: String,
    /// The element in whose compound the path is looked up; `None` for the top level.
    pub scope: Option<usize>,
}

/// Which of a handler's two sides is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read its value.
    Read,
    /// Write a value.
    Write,
}

impl Call {
    /// A read of `path` with a parameter.
    pub fn read(path: impl Into<String>, argument: impl Into<String>) -> Call {
        Call { path: path.into(), access: Access::Read, argument: argument.into(), scope: None }
    }

    /// A write of a value to `path`.
    pub fn write(path: impl Into<String>, argument: impl Into<String>) -> Call {
        Call { path: path.into(), access: Access::Write, argument: argument.into(), scope: None }
    }

    /// Looks the path up as this element would, unless another was named.
    pub(crate) fn within_default(mut self, element: usize) -> Call {
        self.scope = self.scope.or(Some(element));
        self
    }

    /// Looks the path up as the element with this index would.
    pub fn within(mut self, element: usize) -> Call {
        self.scope = Some(element);
        self
    }
}

/// A handler call as an argument: `ELEMENT.HANDLER [VALUE]`, or a global handler's name; a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallArg(pub Call);

impl FromArg for CallArg {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let mut rest = text.trim();
        let path = lang::conf::unquote(lang::conf::pop_space(&mut rest));
        match path.split_once('.') {
            _ if path.is_empty() => parse_error("handler name", text),
            Some((_, "")) => parse_error("handler name", text),
            Some((element, _)) if !element.is_empty() && scope.find(element).is_none() => {
                Err(format!("no element named '{element}'"))
            }
            _ => Ok(CallArg(Call::write(path, rest.trim()))),
        }
    }
}
