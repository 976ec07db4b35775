//! The body of an answer on its way through, as far as it gets.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use tokio::time::{Sleep, sleep};

use super::record::Mark;

/// How long the last bytes have to get to the client before its connection ends.
const FLUSH: Duration = Duration::from_millis(50);

/// Anything that can go wrong with a body.
pub(super) type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// How far a body gets.
#[derive(Debug, Clone, Copy)]
pub(super) enum Until {
    Bytes(usize),
    Lines(usize),
}

/// What comes then.
#[derive(Debug, Clone, Copy)]
pub(super) enum Then {
    Cut,
    Silence,
    End,
}

/// A body that is counted, and maybe ends early. Nothing of it is held back.
pub(super) struct Passing {
    inner: UnsyncBoxBody<Bytes, BodyError>,
    limit: Option<(Until, Then)>,
    flush: Option<Pin<Box<Sleep>>>,
    mark: Mark,
}

impl Passing {
    pub(super) fn new(
        inner: UnsyncBoxBody<Bytes, BodyError>,
        limit: Option<(Until, Then)>,
        mark: Mark,
    ) -> Self {
        Self {
            inner,
            limit,
            flush: None,
            mark,
        }
    }

    /// Takes what may still pass from a piece of the body.
    fn allowed(&mut self, mut data: Bytes) -> Bytes {
        match &mut self.limit {
            None => {}
            Some((Until::Bytes(left), _)) => {
                data.truncate(*left);
                *left -= data.len();
            }
            Some((Until::Lines(left), _)) => {
                let ends = data.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
                let mut end = data.len();
                for (place, _) in ends {
                    *left -= 1;
                    if *left == 0 {
                        end = place + 1;
                        break;
                    }
                }
                data.truncate(end);
            }
        }
        data
    }
}

impl Body for Passing {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some((Until::Bytes(0) | Until::Lines(0), then)) = self.limit {
            return match then {
                Then::Silence => Poll::Pending,
                Then::End => Poll::Ready(None),
                Then::Cut => {
                    let flush = self.flush.get_or_insert_with(|| Box::pin(sleep(FLUSH)));
                    std::task::ready!(flush.as_mut().poll(context));
                    Poll::Ready(Some(Err("cut by a rule".into())))
                }
            };
        }
        let frame = std::task::ready!(Pin::new(&mut self.inner).poll_frame(context));
        Poll::Ready(match frame {
            Some(Ok(frame)) => Some(Ok(match frame.into_data() {
                Ok(data) => {
                    let data = self.allowed(data);
                    self.mark.passed(data.len());
                    Frame::data(data)
                }
                Err(frame) => frame,
            })),
            other => other,
        })
    }
}
