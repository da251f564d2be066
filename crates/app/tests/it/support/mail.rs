//! A minimal mail server: it accepts every mail, unencrypted.

use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A mail that it accepted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mail {
    pub(crate) to: Vec<String>,
    /// Head and body as received.
    pub(crate) text: String,
}

/// Accepts every mail.
pub(crate) struct MailServer {
    pub(crate) port: u16,
    mails: Arc<watch::Sender<Vec<Mail>>>,
    task: JoinHandle<()>,
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl MailServer {
    pub(crate) async fn start() -> MailServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mails: Arc<watch::Sender<Vec<Mail>>> = Arc::default();
        let taken = Arc::clone(&mails);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(talk(stream, Arc::clone(&taken)));
            }
        });
        MailServer { port, mails, task }
    }

    /// Waits until it has accepted this many.
    pub(crate) async fn until(&self, count: usize) -> Vec<Mail> {
        self.mails.subscribe().wait_for(|mails| mails.len() >= count).await.unwrap().clone()
    }
}

async fn talk(stream: TcpStream, taken: Arc<watch::Sender<Vec<Mail>>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    say(&mut stream, "220 test ESMTP").await?;
    let mut mail = Mail::default();
    loop {
        let line = hear(&mut stream).await?;
        match line.to_ascii_uppercase().split(' ').next().unwrap_or_default() {
            "RCPT" => {
                mail.to.push(line.split(['<', '>']).nth(1).unwrap_or_default().to_owned());
                say(&mut stream, "250 fine").await?;
            }
            "DATA" => {
                say(&mut stream, "354 go on").await?;
                mail.text = text(&mut stream).await?;
                taken.send_modify(|mails| mails.push(std::mem::take(&mut mail)));
                say(&mut stream, "250 queued as 1").await?;
            }
            "QUIT" => return say(&mut stream, "221 bye").await,
            _ => say(&mut stream, "250 fine").await?,
        }
    }
}

async fn text(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut text = String::new();
    loop {
        match hear(stream).await? {
            end if end == "." => return Some(text),
            line => text.push_str(&format!("{line}\n")),
        }
    }
}

async fn say(stream: &mut BufReader<TcpStream>, line: &str) -> Option<()> {
    stream.get_mut().write_all(format!("{line}\r\n").as_bytes()).await.ok()
}

async fn hear(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await.ok()?;
    (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}
