//! Reports the end of a call to the engine. It is sent before the client gets the last bytes, so
//! that the agent's next call is judged with the answer, on any replica.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use guard::Ticket;
use model::Epoch;
use model::shared_log::{EndedCall, LogRecord};
use share::Settlement;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Timeout, timeout};

use super::Call;
use crate::core::Core;
use crate::shared::{charge_of, deactivation_of};

/// How long the end of an answer waits for the engine. A healthy one takes less than a millisecond;
/// without the wait the next call would be judged without this answer.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// A call that the engine admitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EngineTicket {
    pub(crate) epoch: Epoch,
}

/// Why a call is settled.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// It is about to be admitted again.
    Admitted,
    /// It is over.
    Over,
    /// It is over, and this replica decided it alone.
    Alone,
}

impl EngineTicket {
    /// Releases the reservation of a call that is admitted again.
    pub(crate) fn drop_reservation(self, call: &mut Call) {
        self.send(call, None, End::Admitted);
    }

    /// Reports the end of the call and what it took.
    pub(crate) fn settle(self, call: &mut Call, ended: Option<EndedCall>) -> PendingSettlement {
        self.send(call, ended, End::Over)
    }

    /// Reports what a call took that this replica decided alone. Nothing waits for it: the engine
    /// is probably out of reach.
    pub(crate) fn report_use(self, call: &mut Call) {
        if call.spending.is_charged() {
            self.send(call, None, End::Alone);
        }
    }

    fn send(self, call: &mut Call, ended: Option<EndedCall>, end: End) -> PendingSettlement {
        let core = Arc::clone(&call.core);
        let Some(shared) = core.config.shared.clone() else { return PendingSettlement::default() };
        let charges = call.spending.charges().iter();
        let is_over = end != End::Admitted;
        let actual = |charge: &guard::LimitCharge| if is_over { call.spending.actual(charge) } else { 0 };
        let settlement = Settlement {
            agent: call.event.agent.clone(),
            epoch: self.epoch,
            call: call.event.id,
            replica: shared.replica.id(),
            record: ended.map(LogRecord::Ended),
            charges: charges.map(|charge| (charge_of(charge), actual(charge))).collect(),
            was_alone: end == End::Alone,
            // Without a ticket there is nothing to release.
            is_repeated: !is_over,
        };
        // Without a runtime the process is ending, and the ticket expires.
        let Ok(runtime) = Handle::try_current() else { return PendingSettlement::default() };
        let (agent, epoch) = (settlement.agent.clone(), settlement.epoch);
        let settling = shared.replica.settle(settlement);
        PendingSettlement::new(runtime.spawn(async move {
            if let Some(killed) = settling.await {
                core.guard.adopt_deactivation(&agent, epoch, deactivation_of(killed));
            }
            // Other calls of the agent may wait for what this one did not use.
            core.budget_waiters.of(&agent).notify_waiters();
        }))
    }
}

/// Records the end of a call that this replica decided alone. It is written to the log, if the call
/// is there by now, so that all replicas know the answer.
pub(crate) fn end_without_log(core: &Arc<Core>, ticket: &Ticket, ended: EndedCall) -> PendingSettlement {
    let Some(shared) = core.config.shared.clone() else { return PendingSettlement::default() };
    if core.guard.end_without_log(ticket, &ended, core.clock.now()) {
        return PendingSettlement::default();
    }
    let Ok(runtime) = Handle::try_current() else { return PendingSettlement::default() };
    let (agent, epoch) = (ticket.agent.clone(), ticket.epoch);
    PendingSettlement::new(runtime.spawn(async move {
        // If this fails, all replicas know the call without its answer.
        shared.replica.append(&agent, epoch, &[LogRecord::Ended(ended)]).await;
    }))
}

/// A settlement on its way to the engine.
#[derive(Default)]
pub(crate) struct PendingSettlement(Option<Pin<Box<Timeout<JoinHandle<()>>>>>);

impl PendingSettlement {
    fn new(settling: JoinHandle<()>) -> PendingSettlement {
        PendingSettlement(Some(Box::pin(timeout(MAX_WAIT, settling))))
    }

    /// Ready when the engine has answered, or after a timeout.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            None => Poll::Ready(()),
            Some(settling) => settling.as_mut().poll(cx).map(|_| self.0 = None),
        }
    }

    /// Waits until the engine has answered, or the timeout.
    pub(crate) async fn wait(self) {
        if let Some(settling) = self.0 {
            let _ = settling.await;
        }
    }
}

impl fmt::Debug for PendingSettlement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PendingSettlement").field(&self.0.is_some()).finish()
    }
}
