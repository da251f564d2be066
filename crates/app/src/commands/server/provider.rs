//! `provider` (hidden): the built-in provider alone, for tests and benchmarks in other processes.

use std::time::Duration;

use http::StatusCode;

use crate::atomic_file::write_atomically;
use crate::cli::ProviderArgs;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_all_cores;
use crate::signals::Signals;
use fake_provider::{Answer, Behaviour, FakeProvider, Fault};

/// `provider`.
pub fn provider(args: &ProviderArgs) -> Result<(), Failure> {
    let behaviour = behaviour(args)?;
    on_all_cores(async {
        let mut signals = Signals::listen()?;
        let provider = FakeProvider::start(args.port, behaviour).await?;
        if let Some(path) = &args.ready_file {
            let addresses = serde_json::json!({ "provider": provider.url() });
            write_atomically(path, addresses.to_string().as_bytes())?;
        }
        print::line(&provider.url())?;
        signals.next().await;
        Ok(())
    })
}

fn behaviour(args: &ProviderArgs) -> Result<Behaviour, Failure> {
    let answer = match &args.text {
        Some(text) => Answer::Text(text.as_str().into()),
        None if args.echo => Answer::Echo,
        None => Answer::Assistant,
    };
    let status = args.status.map(StatusCode::from_u16).transpose();
    let status = status.map_err(|_| Failure::new(Exit::Usage, "--status must be an HTTP status"))?;
    let fault = status.map(Fault::Status).or(args.die_after.map(Fault::DieAfter));
    let fault = fault.or(args.stall_after.map(Fault::StallAfter)).or(args.stall.then_some(Fault::Stall));
    Ok(Behaviour { answer, chunks: args.chunks, delay: Duration::from_millis(args.delay), fault })
}
