//! Entries, and answers to commands.

use super::command::Command;
use std::collections::HashMap;
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Closes each connection.
    Down,
    Frozen,
    Slow(Duration),
    /// An error to each command after the handshake.
    Error,
    /// Each key seems to hold a list.
    WrongType,
    /// A list instead of a string, and text instead of a number.
    WrongAnswer,
    /// Sends something other than Redis.
    Garbage,
    /// A string without end.
    Huge,
}

pub(crate) struct Stored {
    pub(crate) value: Vec<u8>,
    pub(crate) end: Option<Instant>,
}

#[derive(Default)]
pub(crate) struct Store {
    pub(crate) fault: Fault,
    pub(crate) entries: HashMap<String, Stored>,
    pub(crate) commands: HashMap<String, usize>,
    pub(crate) streams: Vec<TcpStream>,
}

impl Store {
    pub(crate) fn answer(&mut self, command: &Command) -> Vec<u8> {
        *self.commands.entry(command.name.clone()).or_default() += 1;
        let is_entry = matches!(&command.name[..], "GETRANGE" | "PTTL" | "SET");
        match self.fault {
            Fault::Garbage => return b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            Fault::Error if is_entry => return b"-OOM command not allowed\r\n".to_vec(),
            Fault::WrongType if command.name == "GETRANGE" => {
                return b"-WRONGTYPE Operation against a key\r\n".to_vec();
            }
            Fault::WrongAnswer if command.name == "GETRANGE" => return b"*1\r\n:7\r\n".to_vec(),
            Fault::WrongAnswer if command.name == "PTTL" => return b"+soon\r\n".to_vec(),
            Fault::Huge if command.name == "GETRANGE" => return b"$400000000\r\nx".to_vec(),
            _ => {}
        }
        let now = Instant::now();
        self.entries
            .retain(|_, entry| entry.end.is_none_or(|end| end > now));
        let key = command.text(0);
        match &command.name[..] {
            "GETRANGE" => {
                let value = self.entries.get(&key).map_or(&[][..], |it| &it.value);
                let last: usize = command.text(2).parse().unwrap_or(0);
                let value = &value[..value.len().min(last + 1)];
                [format!("${}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat()
            }
            "PTTL" => {
                let left = self.entries.get(&key).map_or(-2, |it| match it.end {
                    Some(end) => (end - now).as_millis() as i64,
                    None => -1,
                });
                format!(":{left}\r\n").into_bytes()
            }
            "SET" => {
                let ms = command.text(3).parse().unwrap_or(0);
                let end = Some(now + Duration::from_millis(ms));
                let value = command.arguments.get(1).cloned().unwrap_or_default();
                self.entries.insert(key, Stored { value, end });
                b"+OK\r\n".to_vec()
            }
            _ => b"+OK\r\n".to_vec(),
        }
    }
}
