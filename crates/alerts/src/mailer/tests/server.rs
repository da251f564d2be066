//! A minimal SMTP server.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// How it behaves.
#[derive(Clone, Copy)]
pub(super) struct Behaviour {
    pub(super) starttls: bool,
    pub(super) tls: bool,
    /// The user and password it requires.
    pub(super) login: Option<&'static str>,
    /// Its answer to a recipient.
    pub(super) recipient: &'static str,
    /// Whether it never answers.
    pub(super) silent: bool,
}

impl Default for Behaviour {
    fn default() -> Self {
        Behaviour { starttls: false, tls: false, login: None, recipient: "250 fine", silent: false }
    }
}

/// A mail that it accepted.
#[derive(Debug, Default)]
pub(super) struct ReceivedMail {
    pub(super) from: String,
    pub(super) to: Vec<String>,
    pub(super) data: String,
    pub(super) encrypted: bool,
}

pub(super) struct SmtpServer {
    pub(super) port: u16,
    /// The certificate to trust, as PEM.
    pub(super) certificate: String,
    mails: mpsc::UnboundedReceiver<ReceivedMail>,
    task: JoinHandle<()>,
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SmtpServer {
    pub(super) async fn start(behaviour: Behaviour) -> SmtpServer {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key.into()).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind(("localhost", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (taken, mails) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, behaviour, acceptor.clone(), taken.clone()));
            }
        });
        SmtpServer { port, certificate: made.cert.pem(), mails, task }
    }

    pub(super) async fn next(&mut self) -> ReceivedMail {
        self.mails.recv().await.unwrap()
    }

    pub(super) fn got_nothing(&mut self) -> bool {
        self.mails.try_recv().is_err()
    }
}

async fn serve(
    mut stream: TcpStream,
    behaviour: Behaviour,
    acceptor: TlsAcceptor,
    taken: mpsc::UnboundedSender<ReceivedMail>,
) -> Option<()> {
    if behaviour.silent {
        std::future::pending::<()>().await;
    }
    if behaviour.tls {
        let stream = acceptor.accept(stream).await.ok()?;
        return talk(stream, behaviour, (true, true), &taken).await.map(drop);
    }
    let wants_tls = talk(&mut stream, behaviour, (true, false), &taken).await?;
    if wants_tls {
        let stream = acceptor.accept(stream).await.ok()?;
        talk(stream, behaviour, (false, true), &taken).await?;
    }
    Some(())
}

/// Handles a connection until the client leaves. Returns `true` if the client starts TLS.
async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    behaviour: Behaviour,
    (greets, encrypted): (bool, bool),
    taken: &mpsc::UnboundedSender<ReceivedMail>,
) -> Option<bool> {
    let mut stream = BufReader::new(stream);
    if greets {
        write_line(&mut stream, "220 test ESMTP").await?;
    }
    let mut mail = ReceivedMail { encrypted, ..ReceivedMail::default() };
    loop {
        let line = read_line(&mut stream).await?;
        let command = line.to_ascii_uppercase();
        let reply = if command.starts_with("EHLO") {
            let offers = if behaviour.starttls && !encrypted { "250-STARTTLS\r\n" } else { "" };
            let login = if behaviour.login.is_some() { "250-AUTH PLAIN\r\n" } else { "" };
            format!("250-test\r\n{offers}{login}250 8BITMIME")
        } else if command.starts_with("STARTTLS") {
            write_line(&mut stream, "220 go on").await?;
            return Some(true);
        } else if command.starts_with("AUTH PLAIN ") {
            use base64::Engine;
            let given = base64::engine::general_purpose::STANDARD.decode(&line[11..]).unwrap();
            let expected = format!("\0{}", behaviour.login.unwrap_or_default().replace(':', "\0"));
            if given == expected.as_bytes() { "235 welcome".to_owned() } else { "535 who are you".to_owned() }
        } else if command.starts_with("MAIL FROM") {
            mail.from = address(&line);
            "250 fine".to_owned()
        } else if command.starts_with("RCPT TO") {
            mail.to.push(address(&line));
            behaviour.recipient.to_owned()
        } else if command.starts_with("DATA") {
            write_line(&mut stream, "354 go on").await?;
            loop {
                let line = read_line(&mut stream).await?;
                if line == "." {
                    break;
                }
                mail.data.push_str(&format!("{line}\r\n"));
            }
            let _ = taken.send(std::mem::replace(&mut mail, ReceivedMail { encrypted, ..ReceivedMail::default() }));
            "250 queued as 1".to_owned()
        } else if command.starts_with("QUIT") {
            write_line(&mut stream, "221 bye").await?;
            return Some(false);
        } else {
            "250 fine".to_owned()
        };
        write_line(&mut stream, &reply).await?;
    }
}

fn address(line: &str) -> String {
    line.split(['<', '>']).nth(1).unwrap_or_default().to_owned()
}

async fn write_line<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut BufReader<S>, line: &str) -> Option<()> {
    stream.get_mut().write_all(format!("{line}\r\n").as_bytes()).await.ok()
}

async fn read_line<S: AsyncRead + Unpin>(stream: &mut BufReader<S>) -> Option<String> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await.ok()?;
    (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}
