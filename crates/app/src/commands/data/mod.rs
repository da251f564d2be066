//! Commands about recorded data: statistics, exports, and the database itself.

mod costs;
mod export;
mod migrate;
mod move_data;
mod recorded_body;

pub use costs::costs;
pub use export::export;
pub use migrate::migrate;
pub use move_data::move_database;
