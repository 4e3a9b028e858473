//! Input that may keep its reader waiting: a pipe, a socket, a terminal.

use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Time that a read waits before its caller may look for signals. A signal just before the system call does not end the
/// call, and no signal wakes a thread that waits for another: without this limit the reader would notice it only when
/// more input arrives.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// Input that is read as it arrives. After a wait without input, reading returns [`ErrorKind::Interrupted`].
pub(super) struct Pipe<Input>(Input);

impl<Input: AsFd> Pipe<Input> {
    pub(super) fn new(input: Input) -> Pipe<Input> {
        Pipe(input)
    }
}

impl<Input: AsFd> Read for Pipe<Input> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let patience = Timespec { tv_sec: 0, tv_nsec: PATIENCE.subsec_nanos().into() };
        // Its end and its errors count as input too: reading reports them.
        if poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&patience))? == 0 {
            return Err(ErrorKind::Interrupted.into());
        }
        match rustix::io::read(&self.0, to) {
            // A closed standard input is empty, as in the standard library.
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
