//! Healthy work that looks like a loop. Stopping one of these is a mistake.

mod batches;
mod bearings;
mod browsing;
mod errands;
mod fleets;
mod logbook;
mod looks;
mod outputs;
mod paging;
mod rebuilt;
mod repairs;
mod retries;
mod schedules;
mod text_agents;
mod trades;
mod users;
mod visitors;
mod waiting;

use super::Shape;

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = looks::shapes();
    shapes.extend(outputs::shapes());
    shapes.extend(repairs::shapes());
    shapes.extend(waiting::shapes());
    shapes.extend(paging::shapes());
    shapes.extend(users::shapes());
    shapes.extend(schedules::shapes());
    shapes.extend(retries::shapes());
    shapes.extend(batches::shapes());
    shapes.extend(bearings::shapes());
    shapes.extend(fleets::shapes());
    shapes.extend(text_agents::shapes());
    shapes.extend(rebuilt::shapes());
    shapes.extend(logbook::shapes());
    shapes.extend(browsing::shapes());
    shapes.extend(trades::shapes());
    shapes.extend(errands::shapes());
    shapes.extend(visitors::shapes());
    shapes
}
