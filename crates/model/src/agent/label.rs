//! Labels of agents: words that people give them, by which a group may name its agents.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use serde::{Deserialize, Serialize};

use crate::{AgentId, FieldError};

/// A label: `1..=64` characters of `A-Z a-z 0-9 . _ - : = /`, the first one alphanumeric, such as
/// `production` or `team=billing`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Label(String);

/// The error for a text that is not a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 64 characters of A-Z a-z 0-9 . _ - : = / and start with a letter or digit")]
pub struct InvalidLabel;

impl Label {
    /// The most labels of an agent or a group.
    pub const MOST: usize = 50;

    /// Validates `text`.
    pub fn parse(text: &str) -> Result<Label, InvalidLabel> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:=/".contains(&byte);
        let starts_well = text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        let is_valid = starts_well && text.len() <= 64 && text.bytes().all(allowed);
        if is_valid { Ok(Label(text.to_owned())) } else { Err(InvalidLabel) }
    }

    /// The label as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Sorts `labels`, without duplicates, and checks their number.
    pub fn sorted(mut labels: Vec<Label>) -> Result<Vec<Label>, FieldError> {
        labels.sort_unstable();
        labels.dedup();
        if labels.len() > Label::MOST {
            return Err(FieldError::new("labels", format!("must have at most {} labels", Label::MOST)));
        }
        Ok(labels)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Label {
    type Error = InvalidLabel;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Label::parse(&text)
    }
}

impl From<Label> for String {
    fn from(label: Label) -> String {
        label.0
    }
}

/// The labels of all agents that have any. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct AgentLabels(Arc<ArcSwap<HashMap<AgentId, Arc<[Label]>>>>);

impl AgentLabels {
    /// The labels of an agent.
    pub fn of(&self, agent: &AgentId) -> Vec<Label> {
        self.0.load().get(agent).map(|labels| labels.to_vec()).unwrap_or_default()
    }

    /// Whether an agent has one of `labels`.
    pub fn has_any(&self, agent: &AgentId, labels: &[Label]) -> bool {
        !labels.is_empty() && self.0.load().get(agent).is_some_and(|own| own.iter().any(|it| labels.contains(it)))
    }

    /// Replaces the labels of an agent.
    pub fn set(&self, agent: &AgentId, labels: Vec<Label>) {
        if labels.is_empty() && !self.0.load().contains_key(agent) {
            return;
        }
        let labels: Arc<[Label]> = labels.into();
        self.0.rcu(|all| {
            let mut all = HashMap::clone(all);
            if labels.is_empty() {
                all.remove(agent);
            } else {
                all.insert(agent.clone(), Arc::clone(&labels));
            }
            all
        });
    }

    /// Replaces the labels of all agents.
    pub fn set_all(&self, labels: impl IntoIterator<Item = (AgentId, Vec<Label>)>) {
        self.0.store(Arc::new(labels.into_iter().map(|(agent, labels)| (agent, labels.into())).collect()));
    }
}

impl PartialEq for AgentLabels {
    fn eq(&self, other: &AgentLabels) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self.0.load() == **other.0.load()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short_words() {
        for good in ["production", "team=billing", "eu-west/1", "a:b_c.d", "7", &"x".repeat(64)] {
            assert_eq!(Label::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "=a", "-a", "a b", "a,b", "ä", "a@b", "a*", &"x".repeat(65)] {
            assert_eq!(Label::parse(bad), Err(InvalidLabel), "{bad}");
        }
    }

    #[test]
    fn agents_have_the_labels_that_were_set_last() {
        let label = |text: &str| Label::parse(text).unwrap();
        let (labels, bot) = (AgentLabels::default(), AgentId::parse("bot").unwrap());
        assert!(!labels.has_any(&bot, &[label("a")]));
        labels.set(&bot, vec![label("a"), label("b")]);
        assert!(labels.has_any(&bot, &[label("x"), label("b")]) && !labels.has_any(&bot, &[label("x")]));
        assert!(!labels.has_any(&bot, &[]));
        labels.set(&bot, vec![label("c")]);
        assert_eq!(labels.of(&bot), [label("c")]);
        labels.set(&bot, Vec::new());
        assert_eq!(labels, AgentLabels::default());
    }

    #[test]
    fn labels_are_sorted_and_limited() {
        let label = |text: &str| Label::parse(text).unwrap();
        assert_eq!(Label::sorted(vec![label("b"), label("a"), label("b")]).unwrap(), [label("a"), label("b")]);
        let many = (0..=Label::MOST).map(|number| label(&format!("l{number}"))).collect();
        assert_eq!(Label::sorted(many).unwrap_err().field, "labels");
    }
}
