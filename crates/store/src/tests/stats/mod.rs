//! Statistics against the events they come from.

mod figures;
mod unscored;

use super::*;
