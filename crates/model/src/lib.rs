//! The data types of AgentGazer: agents, calls, fingerprints, incidents, events. Data and its
//! validation only, without IO, SQL or HTTP; every other crate uses them.

mod access;
mod agent;
mod alert;
mod call;
mod failures;
mod field_error;
pub mod fingerprint_bytes;
mod id;
mod incident;
mod money;
mod network;
mod policy;
mod provider;
mod recorder;
mod score;
pub mod shared_log;
mod time;

pub use access::{
    Actor, ActorKind, AgentKey, AgentKeys, Cause, Grant, KeyHash, KeyInForce, KeyRefusal, KeyRequirement, KeyText,
    RefusedCaller, RequireKey, Role,
};
pub use agent::{
    Action, ActivatedBy, AgentLabels, AgentPattern, Counting, DeactivatedBy, Deactivation, Exempt, ExemptKind,
    Exemption, ExemptionId, Group, Groups, InvalidAgentPattern, InvalidLabel, KillSwitch, KillSwitchChange, Label,
    SavedAgent,
};
pub use alert::{
    AlertData, AlertRule, AlertType, BudgetData, BudgetLimit, Channel, ChannelId, ChannelKind, ChannelSettings,
    Condition, DeliveryId, DeliveryState, DigestLine, ErrorRateData, LoopData, RecoveredData, RuleId, RuleScope,
    RuleType, SilenceData, SmtpSecurity, SmtpServer,
};
pub use call::{
    Answered, Asked, BlockReason, CLIENT_WENT_AWAY, Continues, Event, EventType, Fingerprint, KeptBody, KeptCall,
    KeptCalls, KeptResponse, Novelty, Outcome, ResponsePrint, ResultPrint, Step, StepKind, TextHash, ToolCall,
    ToolStep, Turn, Unread, Unscored, Usage, WordSet, is_thought,
};
pub use failures::Failures;
pub use field_error::FieldError;
pub use id::{AgentId, AgentKeyId, CallId, ConversationId, Epoch, IncidentId, InvalidAgentId};
pub use incident::{
    AgreedKill, CheckedKills, Cycle, Evidence, Incident, IncidentState, Kill, Likeness, Matched, MatchedCall,
    MissingBodies, Stuck, UnrecordedKill, cost_per_hour,
};
pub use money::NanoUsd;
pub use network::{AllowedHosts, Network, Target, TargetHost, is_global};
pub use policy::{ANY, AllowedHours, ModelOverride, Policy, PolicyChange, RateLimit, Spending, TimeOfDay};
pub use provider::{Format, InvalidProvider, Provider, Providers};
pub use recorder::{KillCommit, Record, RecorderHandle, RecorderInbox};
pub use score::{Score, SignalCounts, WindowKind};
pub use time::{BudgetPeriod, Clock, ClockJump, ClockWatch, ManualClock, Timestamp, Weekday, Zone};
