//! The tool and the library as their users meet them.

mod formats;
