//! What may keep its reader waiting: a pipe, a socket, a terminal.

use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// How long a read waits before it lets its caller look for signals. One that comes just before the system call does not end
/// it, nor does any wake whoever waits for a thread: without this the reader would see it only when more input arrives.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// Input that is read as it comes. Where none came for a while, reading is [`ErrorKind::Interrupted`].
pub(super) struct Pipe<Input>(Input);

impl<Input: AsFd> Pipe<Input> {
    pub(super) fn new(input: Input) -> Pipe<Input> {
        Pipe(input)
    }
}

impl<Input: AsFd> Read for Pipe<Input> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let patience = Timespec { tv_sec: 0, tv_nsec: PATIENCE.subsec_nanos().into() };
        // Its end and its errors count as input too: reading tells them.
        if poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&patience))? == 0 {
            return Err(ErrorKind::Interrupted.into());
        }
        match rustix::io::read(&self.0, to) {
            // A standard input that was closed holds nothing, as the standard library has it.
            Err(Errno::BADF) => Ok(0),
            read => Ok(read?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_pipe_without_input_lets_its_reader_look_up_and_loses_nothing() {
        let (reader, mut writer) = io::pipe().unwrap();
        let (mut pipe, mut got) = (Pipe::new(reader), [0; 8]);
        assert_eq!(pipe.read(&mut got).unwrap_err().kind(), ErrorKind::Interrupted);
        writer.write_all(b"four").unwrap();
        assert_eq!((pipe.read(&mut got).unwrap(), &got[..4]), (4, &b"four"[..]));
        assert_eq!(pipe.read(&mut got).unwrap_err().kind(), ErrorKind::Interrupted);
        drop(writer);
        assert_eq!(pipe.read(&mut got).unwrap(), 0);
    }
}
