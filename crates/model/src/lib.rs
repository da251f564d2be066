//! What AgentGazer talks about: agents, calls, fingerprints, incidents, events. Data and its
//! validation only: no IO, no SQL, no HTTP; every other crate speaks in these words.

mod actor;
mod address;
mod agent;
mod agent_key;
mod agent_pattern;
mod alert;
mod budget_period;
mod call;
mod event;
mod exemption;
mod failures;
mod fingerprint;
mod group;
mod host;
mod hours;
mod id;
mod incident;
mod kept_call;
mod key_requirement;
mod kill_switch;
mod money;
mod policy;
mod policy_change;
mod provider;
mod recorder;
mod smtp;
mod stuck;
mod target;
mod time;
mod unscored;
mod zone;

pub use actor::{Actor, ActorKind, Cause, Role};
pub use address::is_global;
pub use agent::{ActivatedBy, DeactivatedBy, Deactivation, SavedAgent};
pub use agent_key::{AgentKey, AgentKeyId, AgentKeys, KeyHash, KeyInForce, KeyRefusal, KeyText};
pub use agent_pattern::{AgentPattern, InvalidAgentPattern};
pub use alert::{
    AlertData, AlertRule, AlertType, BudgetData, BudgetLimit, Channel, ChannelId, ChannelKind, ChannelSettings,
    Condition, DeliveryId, DeliveryState, DigestLine, ErrorRateData, LoopData, RecoveredData, RuleId, RuleScope,
    RuleType, SilenceData,
};
pub use budget_period::BudgetPeriod;
pub use call::{Answered, Asked, Continues, ToolCall, Usage};
pub use event::{BlockReason, CLIENT_WENT_AWAY, Event, EventType};
pub use exemption::{Exempt, ExemptKind, Exemption, ExemptionId};
pub use failures::Failures;
pub use fingerprint::{
    Fingerprint, Novelty, Outcome, ResponsePrint, ResultPrint, Step, StepKind, TextHash, ToolStep, Turn,
};
pub use group::{Group, Groups};
pub use host::AllowedHosts;
pub use hours::{AllowedHours, TimeOfDay, Weekday};
pub use id::{AgentId, CallId, ConversationId, Epoch, IncidentId, InvalidAgentId};
pub use incident::{
    Evidence, Incident, IncidentState, Kill, Likeness, Matched, MatchedCall, MissingBodies, Score, SignalCounts,
    WindowKind,
};
pub use kept_call::{KeptBody, KeptCall, KeptCalls, KeptResponse};
pub use key_requirement::{KeyRequirement, RequireKey};
pub use kill_switch::{Action, Counting, FieldError, KillSwitch, KillSwitchChange};
pub use money::NanoUsd;
pub use policy::{ANY, ModelOverride, Policy, RateLimit, Spending};
pub use policy_change::PolicyChange;
pub use provider::{Format, InvalidProvider, Provider, Providers};
pub use recorder::{KillCommit, Record, RecorderHandle, RecorderInbox};
pub use smtp::{SmtpSecurity, SmtpServer};
pub use stuck::{Cycle, Stuck, cost_per_hour};
pub use target::{Target, TargetHost};
pub use time::{Clock, ClockJump, ClockWatch, ManualClock, Timestamp};
pub use unscored::{Unread, Unscored};
pub use zone::Zone;
