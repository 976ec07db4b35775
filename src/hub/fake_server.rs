//! A server for tests that answers as it was told.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use test_hub::waiting;

use crate::hub::connect::config::ConnectionSettings;
use crate::hub::request::connection::Connection;

#[derive(Clone)]
pub(super) enum ServerReply {
    Whole(u16, &'static str, String),
    Lines(Vec<String>),
    /// Lines, of which the last is cut off.
    Cut(Vec<String>),
    Silent(Vec<String>),
    Slammed,
}

/// A server that answers one request after the other as it was told.
pub(super) struct FakeServer {
    pub(super) url: String,
    asked: Receiver<String>,
}

impl FakeServer {
    pub(super) fn new(replies: Vec<ServerReply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (tell, asked) = channel();
        let replies = Arc::new(Mutex::new(replies.into_iter()));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), tell, replies) = (stream, tell.clone(), Arc::clone(&replies))
                else {
                    return;
                };
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    let mut first = String::new();
                    let mut line = String::new();
                    while reader.read_line(&mut line).unwrap_or(0) > 2 {
                        if first.is_empty() {
                            first.clone_from(&line);
                        }
                        line.clear();
                    }
                    if first.is_empty() {
                        return;
                    }
                    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                    let reply = replies.lock().unwrap().next();
                    let _ = tell.send(path);
                    // Nothing more was told: the rest is silence.
                    answer(stream, &reply.unwrap_or(ServerReply::Silent(Vec::new())));
                });
            }
        });
        Self { url, asked }
    }

    /// A connection to it, whose requests may take a minute.
    pub(super) fn connection(&self) -> Connection {
        let settings = ConnectionSettings::of(&self.url);
        Connection::prepare(settings, Some(Duration::from_mins(1))).unwrap()
    }

    pub(super) fn asked(&self) -> String {
        self.asked.recv_timeout(waiting::HANGS).unwrap()
    }
}

fn answer(mut stream: TcpStream, reply: &ServerReply) {
    let (lines, then) = match reply {
        ServerReply::Slammed => return,
        ServerReply::Whole(code, headers, body) => {
            let _ = write!(
                stream,
                "HTTP/1.1 {code} X\r\nContent-Type: application/json\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            return;
        }
        ServerReply::Lines(lines) => (lines, "end"),
        ServerReply::Cut(lines) => (lines, "cut"),
        ServerReply::Silent(lines) => (lines, "silence"),
    };
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    for (at, line) in lines.iter().enumerate() {
        let text = if then == "cut" && at + 1 == lines.len() {
            line[..line.len() / 2].to_owned()
        } else {
            format!("{line}\n")
        };
        // In two pieces: lines do not come as they were written.
        let (one, two) = text.split_at(text.len() / 3);
        for piece in [one, two].iter().filter(|piece| !piece.is_empty()) {
            let _ = write!(stream, "{:x}\r\n{piece}\r\n", piece.len());
            let _ = stream.flush();
        }
    }
    match then {
        "end" => {
            let _ = stream.write_all(b"0\r\n\r\n");
        }
        "cut" => {}
        _ => waiting::pass(waiting::HANGS),
    }
}
