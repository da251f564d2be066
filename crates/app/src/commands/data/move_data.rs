//! `move`: copies everything from a SQLite file to a PostgreSQL server.

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use store::{PostgresConfig, StoreConfig, move_data};

use crate::cli::MoveArgs;
use crate::data_dir::DataDir;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;

/// `move --from sqlite:DIR --to postgres://…`.
pub fn move_database(args: &MoveArgs) -> Result<(), Failure> {
    let Some(directory) = args.from.strip_prefix("sqlite:") else {
        return Err(Failure::new(
            Exit::Usage,
            "--from must be sqlite: and a data directory, like sqlite:/var/lib/agentgazer",
        ));
    };
    let directory = PathBuf::from(directory);
    if !directory.join("agentgazer.db").is_file() {
        let message = format!("--from: there is no agentgazer.db in {}", directory.display());
        return Err(Failure::new(Exit::NotFound, message));
    }
    let target = PostgresConfig::new(args.to.as_str().into(), args.password_file.clone());
    let target = target.map_err(|why| Failure::new(Exit::Usage, format!("--to {why}")))?;
    // What a running server writes meanwhile would not be copied.
    let _claimed = DataDir::open(&directory)?;
    let source = StoreConfig::new(&directory, directory.join("agentgazer.key"));
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {pos}/{len} rows  {msg}  {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let moved = on_one_thread(async {
        Ok(move_data(&source, &target, |progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.rows);
            bar.set_message(progress.table.clone());
        })
        .await?)
    })?;
    bar.finish_and_clear();
    let rows: u64 = moved.tables.iter().map(|(_, rows)| rows).sum();
    for (table, rows) in moved.tables.iter().filter(|(_, rows)| *rows > 0) {
        print::line(&format!("{rows:>12}  {table}"))?;
    }
    print::line(&format!(
        "{rows} rows of {} tables are in {}: counts and sums agree. Start the server with the same data directory and \
         --database; agentgazer.db is not used any more",
        moved.tables.len(),
        target.address()
    ))
}
