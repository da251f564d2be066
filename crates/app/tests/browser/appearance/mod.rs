//! How pages look: layout, contrast, accessibility, weight, screenshots.

mod axe;
pub(crate) mod layout;
pub(crate) mod looks;
mod screenshots;
mod weight;
