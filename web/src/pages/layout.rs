//! What every page has: the search form and the addresses of the assets.

use super::form::Form;
use crate::assets;

#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) form: Form,
    pub(super) style: String,
    pub(super) script: String,
}

impl Layout {
    pub(super) fn new(form: Form) -> Layout {
        Layout {
            form,
            style: assets::STYLE.address(),
            script: assets::SCRIPT.address(),
        }
    }
}

impl Default for Layout {
    fn default() -> Layout {
        Layout::new(Form::default())
    }
}
