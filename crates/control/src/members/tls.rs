//! TLS to a server, and the files that say whom to trust and who this node is. rustls speaks it (TLS 1.2 and 1.3), with the ciphers that the
//! crate `ciphers` has for ESP.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, Error, InconsistentKeys,
    RootCertStore,
};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

/// The names of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Files {
    /// Certificates of the authorities that sign servers' certificates.
    pub(super) authorities: String,
    /// This node's certificate and its key.
    pub(super) own: Option<(String, String)>,
}

/// Whom to trust, and who this node is.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

/// A connection that is encrypted.
pub(super) struct Secure {
    connection: ClientConnection,
    socket: TcpStream,
}

/// Whether there is TLS on this machine.
///
/// # Errors
/// Why not.
pub(super) fn is_there() -> Result<(), &'static str> {
    match ciphers::has_graviola() {
        true => Ok(()),
        false => Err("there is no TLS on this processor, which lacks AES or AVX2 instructions"),
    }
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// One cannot be read, or has something else in it. No key is shown.
    pub(super) fn read(files: &Files) -> Result<Tls, String> {
        let provider = Arc::new(rustls_graviola::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&files.authorities)? {
            roots.add(certificate).map_err(|error| format!("{}: {error}", files.authorities))?;
        }
        let builder = builder.map_err(|error| error.to_string())?.with_root_certificates(roots);
        let config = match &files.own {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => builder
                .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
                .map_err(|error| of_own_files(&error, certificate, key))?,
        };
        Ok(Tls(Arc::new(config)))
    }

    /// Shakes hands with a server, by `until` at the latest. `server` is a host and a port: its certificate must be that host's.
    ///
    /// # Errors
    /// The server is not to be trusted, does not trust this node, or does not answer in time.
    pub(super) fn connect(&self, server: &str, socket: TcpStream, until: Instant) -> Result<Secure, String> {
        let host = server.rsplit_once(':').map_or(server, |(host, _)| host).trim_matches(['[', ']']);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| format!("'{host}' is no name that a certificate could have"))?;
        let connection = ClientConnection::new(self.0.clone(), name).map_err(|error| explain(&error))?;
        let mut secure = Secure { connection, socket };
        while secure.connection.is_handshaking() {
            if Instant::now() > until {
                return Err("no answer in time".to_owned());
            }
            secure.shake_hands().map_err(|error| match error.kind() {
                ErrorKind::WouldBlock => "no answer in time".to_owned(),
                _ => error.to_string(),
            })?;
        }
        Ok(secure)
    }
}

impl Secure {
    fn shake_hands(&mut self) -> std::io::Result<()> {
        if self.connection.wants_write() {
            return self.send();
        }
        match self.take()? {
            0 if self.connection.is_handshaking() => Err(ended()),
            _ => Ok(()),
        }
    }

    /// Sends what is encrypted. If the server takes no more, it may have said why.
    fn send(&mut self) -> std::io::Result<()> {
        while self.connection.wants_write() {
            if let Err(error) = self.connection.write_tls(&mut self.socket) {
                return Err(self
                    .take()
                    .err()
                    .filter(|why| why.kind() == ErrorKind::InvalidData)
                    .unwrap_or(error));
            }
        }
        Ok(())
    }

    /// Takes once what comes over the socket, and decrypts it; how many bytes came.
    fn take(&mut self) -> std::io::Result<usize> {
        let came = self.connection.read_tls(&mut self.socket)?;
        match self.connection.process_new_packets() {
            Ok(_) => Ok(came),
            Err(error) => {
                // The server is told why; if it is gone, that is no matter.
                let _ = self.connection.write_tls(&mut self.socket);
                Err(std::io::Error::new(ErrorKind::InvalidData, explain(&error)))
            }
        }
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        // What the connection has no room for is sent first.
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = self.connection.writer().write(rest)?;
            rest = &rest[written..];
            self.send()?;
        }
        Ok(())
    }

    /// As [`super::stream::Stream::read`].
    pub(super) fn read(&mut self, into: &mut Vec<u8>) -> std::io::Result<Option<usize>> {
        let waiting = |connection: &mut ClientConnection| {
            let state = connection.process_new_packets();
            let state =
                state.map_err(|error| std::io::Error::new(ErrorKind::InvalidData, explain(&error)))?;
            Ok::<_, std::io::Error>((state.plaintext_bytes_to_read(), state.peer_has_closed()))
        };
        let mut came = None;
        let (mut len, mut has_closed) = waiting(&mut self.connection)?;
        if len == 0 && !has_closed {
            came = Some(self.take()?);
            (len, has_closed) = waiting(&mut self.connection)?;
        }
        let start = into.len();
        into.resize(start + len, 0);
        self.connection.reader().read_exact(&mut into[start..])?;
        self.send()?;
        match (len, came) {
            (0, _) if has_closed => Ok(Some(0)),
            // An attacker who cuts the connection off cannot shorten an answer.
            (0, Some(0)) => Err(ended()),
            (0, _) => Ok(None),
            (len, _) => Ok(Some(len)),
        }
    }

    pub(super) fn socket(&self) -> &TcpStream {
        &self.socket
    }
}

/// The server is gone.
fn ended() -> std::io::Error {
    std::io::Error::new(ErrorKind::UnexpectedEof, "it closed the connection")
}

fn pem(file: &str) -> Result<String, String> {
    device::files::read_to_string(file).map_err(|error| format!("{file}: {error}"))
}

/// The certificates in a file, at least one.
fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = pem(file)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err(format!("{file}: no certificate (PEM)")),
        Err(_) => Err(format!("{file}: a certificate that is broken (PEM)")),
    }
}

/// The first key in a file. What is wrong with it is not said in its own words.
fn private_key(file: &str) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_slice(pem(file)?.as_bytes())
        .map_err(|_| format!("{file}: no private key (PEM, without a passphrase)"))
}

fn of_own_files(error: &Error, certificate: &str, key: &str) -> String {
    match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            format!("{key}: not the key of {certificate}")
        }
        Error::InvalidCertificate(_) => format!("{certificate}: {error}"),
        error => format!("{key}: {error}"),
    }
}

/// What has gone wrong, and what sets it right.
fn explain(error: &Error) -> String {
    use AlertDescription as Alert;
    use CertificateError as Wrong;
    match error {
        Error::InvalidCertificate(Wrong::UnknownIssuer) => {
            "the server's certificate is not signed by an authority in CAFILE".to_owned()
        }
        Error::InvalidCertificate(Wrong::Expired | Wrong::ExpiredContext { .. }) => {
            "the server's certificate has expired".to_owned()
        }
        Error::InvalidCertificate(Wrong::NotValidYet | Wrong::NotValidYetContext { .. }) => {
            "the server's certificate is not valid yet, by this machine's clock".to_owned()
        }
        Error::InvalidCertificate(
            wrong @ (Wrong::NotValidForName | Wrong::NotValidForNameContext { .. }),
        ) => {
            format!("the server's certificate has another name: {wrong}")
        }
        Error::InvalidMessage(_) => "the server does not speak TLS".to_owned(),
        Error::AlertReceived(
            alert @ (Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied),
        ) => format!("the server does not accept this node's certificate ({alert:?})"),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::time::Duration;

    fn read_with(name: &str, text: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(name).display().to_string();
        std::fs::write(&file, text).expect("written");
        let error = Tls::read(&Files { authorities: file.clone(), own: None }).err().expect("an error");
        error.replace(&file, name)
    }

    #[test]
    fn files_that_hold_something_else() {
        assert_eq!(read_with("ca", "nothing"), "ca: no certificate (PEM)");
        let broken = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
        assert_eq!(read_with("ca", broken), "ca: a certificate that is broken (PEM)");
        assert!(
            Tls::read(&Files { authorities: "/no/such".into(), own: None })
                .is_err_and(|error| error.starts_with("/no/such: "))
        );
        assert!(private_key("/no/such").is_err());
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n").expect("written");
        let error = private_key(&file.path().display().to_string()).expect_err("no key");
        assert!(
            error.ends_with(": no private key (PEM, without a passphrase)") && !error.contains("c2Vj"),
            "{error}"
        );
    }

    /// A server that speaks something else, or nothing, or goes away, is an error, not a wait without end.
    #[test]
    fn servers_without_tls() {
        let tls = || {
            let provider = Arc::new(rustls_graviola::default_provider());
            let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
            Tls(Arc::new(
                builder
                    .expect("versions")
                    .with_root_certificates(RootCertStore::empty())
                    .with_no_client_auth(),
            ))
        };
        let answer = |answer: &'static [u8]| {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let server = listener.local_addr().expect("bound").to_string();
            let serving = std::thread::spawn(move || {
                let (mut socket, _) = listener.accept().expect("a client");
                let mut hello = [0; 4_096];
                let _ = socket.read(&mut hello).expect("a hello");
                socket.write_all(answer).expect("sent");
            });
            let socket = TcpStream::connect(&server).expect("connected");
            let error = tls().connect(&server, socket, Instant::now() + Duration::from_secs(60)).err();
            serving.join().expect("served");
            error.expect("an error")
        };
        assert_eq!(answer(b"HTTP/1.0 400 Bad Request\r\n\r\n"), "the server does not speak TLS");
        assert_eq!(answer(b""), "it closed the connection");
        // A fatal alert: the server wants a certificate.
        assert_eq!(
            answer(&[21, 3, 3, 0, 2, 2, 116]),
            "the server does not accept this node's certificate (CertificateRequired)"
        );
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let socket = TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");
        socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
        assert_eq!(
            tls().connect("[::1]:1", socket, Instant::now()).err().expect("an error"),
            "no answer in time"
        );
        assert!(is_there().is_ok());
    }
}
