//! Channels: the ways in which people are notified.

use std::future::Future;

use model::{Channel, ChannelId, DeliveryId};
use store::{AlertChange, Change, StoreError};

use crate::error::OrNotFound;
use crate::{Command, Commands, Control, ControlError, State};

/// More are a mistake, and each may keep its own connections.
const MAX_CHANNELS: usize = 100;

impl Commands {
    /// Adds a channel.
    pub async fn add_channel(&self, channel: Channel) -> Result<(), ControlError> {
        self.exclusive(move |command| async move {
            if command.store.channels().await?.len() >= MAX_CHANNELS {
                let text = format!("There are {MAX_CHANNELS} channels already; delete one first.");
                return Err(ControlError::TooMany(text));
            }
            command.put_channel(channel).await
        })
        .await
    }

    /// Replaces a channel by the result of `change`.
    pub async fn change_channel<E, F>(
        &self,
        id: ChannelId,
        change: impl FnOnce(Channel) -> F + Send + 'static,
    ) -> Result<(), E>
    where
        E: From<ControlError> + Send + 'static,
        F: Future<Output = Result<Channel, E>> + Send,
    {
        self.exclusive(move |command| async move {
            let channel = change(command.channel(id).await?).await?;
            Ok(command.put_channel(channel).await?)
        })
        .await
    }

    /// Deletes a channel and removes it from its rules. A rule without another channel is deleted
    /// with it, unless it is off.
    pub async fn delete_channel(&self, id: ChannelId) -> Result<(), ControlError> {
        let change = AlertChange::RemoveChannel { channel: id, at: self.state().clock.now() };
        let removed = self.command().change(Change::Alerts(change)).await;
        removed.or_not_found(|| unknown(id)).map(drop)
    }

    /// Queues a test message for a channel as `delivery`.
    pub async fn test_channel(&self, id: ChannelId, delivery: DeliveryId) -> Result<(), ControlError> {
        let change = AlertChange::Test { channel: id, delivery, at: self.state().clock.now() };
        let queued = self.command().change(Change::Alerts(change)).await;
        queued.or_not_found(|| unknown(id)).map(drop)
    }
}

impl Control {
    /// One channel.
    pub async fn channel(&self, id: ChannelId) -> Result<Channel, ControlError> {
        self.0.channel(id).await
    }
}

impl State {
    pub(crate) async fn channel(&self, id: ChannelId) -> Result<Channel, ControlError> {
        self.store.channel(id).await?.ok_or_else(|| ControlError::NotFound(unknown(id)))
    }
}

impl Command {
    async fn put_channel(&self, channel: Channel) -> Result<(), ControlError> {
        match self.change(Change::Alerts(AlertChange::PutChannel { channel: channel.into() })).await {
            Err(StoreError::Conflict(why)) => Err(ControlError::field("name", format!("is taken: {why}"))),
            stored => Ok(stored.map(drop)?),
        }
    }
}

fn unknown(id: ChannelId) -> String {
    format!("There is no channel {id}.")
}
