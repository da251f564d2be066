//! Loops. Missing one of these is a mistake.

mod browsers;
mod crowds;
mod cycles;
mod errors;
mod fixed;
mod plans;
mod searches;
mod started_over;
mod talk;
mod text_agents;
mod volatile_parts;

use super::Shape;

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = fixed::shapes();
    shapes.extend(volatile_parts::shapes());
    shapes.extend(cycles::shapes());
    shapes.extend(errors::shapes());
    shapes.extend(searches::shapes());
    shapes.extend(plans::shapes());
    shapes.extend(talk::shapes());
    shapes.extend(started_over::shapes());
    shapes.extend(text_agents::shapes());
    shapes.extend(browsers::shapes());
    shapes.extend(crowds::shapes());
    shapes
}

/// Calls of a loop after its first repetition: long enough that missing it costs something.
const LAPS: usize = 40;
