//! Connection to the index process, and its start.

use crate::message::{self, Request};
use crate::place::{self, Place};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, ffi::OsStr};

/// Longest wait for the process. It may be stopped.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// Set by a sandbox without sockets, in which a process would end with the command.
const SANDBOX: &str = "CODEX_SANDBOX_NETWORK_DISABLED";

pub(crate) struct Connection(UnixStream);

pub(crate) enum ConnectError {
    /// No process listens; one may be started.
    Absent,
    /// Sockets are forbidden, or the place is not of this user alone.
    Refused,
}

impl Connection {
    pub(crate) fn open(place: &Place) -> Result<Connection, ConnectError> {
        if !place.sockets.exists() {
            return Err(ConnectError::Absent);
        }
        if !place::is_private(&place.sockets) {
            return Err(ConnectError::Refused);
        }
        let stream = connect(&place.socket()).map_err(|error| match error {
            Errno::NOENT | Errno::CONNREFUSED => ConnectError::Absent,
            _ => ConnectError::Refused,
        })?;
        if !is_own(&stream) {
            return Err(ConnectError::Refused);
        }
        Ok(Connection(stream))
    }

    /// Waits as long as it takes.
    pub(crate) fn patient(self) -> io::Result<Connection> {
        self.0.set_read_timeout(None)?;
        Ok(self)
    }

    pub(crate) fn ask(&mut self, request: &Request) -> io::Result<Vec<u8>> {
        request.write(&mut self.0)?;
        message::read(&mut self.0)
    }
}

fn connect(path: &Path) -> rustix::io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC;
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    for kind in [Timeout::Recv, Timeout::Send] {
        set_socket_timeout(&socket, kind, Some(WAIT_MAX))?;
    }
    net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(UnixStream::from(socket))
}

/// Tests if the other end is a process of this user.
pub(crate) fn is_own(stream: &UnixStream) -> bool {
    socket_peercred(stream).is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// Starts the process with a tree, and does not wait for it.
pub(crate) fn start(root: &OsStr) -> io::Result<()> {
    if env::var_os(SANDBOX).is_some() {
        return Ok(());
    }
    let mut command = Command::new("/proc/self/exe");
    command.args(["local", "run"]).arg(root).current_dir("/");
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}
