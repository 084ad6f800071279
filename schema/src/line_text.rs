//! Matching lines as text: `package/path:number:line`, like `grep -rn`.

/// Writes lines of successive documents.
#[derive(Clone, Debug)]
pub struct LineText {
    /// Package, path and colon, then the last number and a colon.
    head: Vec<u8>,
    name_bytes: usize,
    number: u32,
    about: Vec<u8>,
}

impl Default for LineText {
    fn default() -> LineText {
        let mut text = LineText {
            head: Vec::new(),
            name_bytes: 0,
            number: 0,
            about: Vec::new(),
        };
        text.begin(b"", b"");
        text
    }
}

impl LineText {
    pub fn begin(&mut self, package: &[u8], path: &[u8]) {
        self.begin_named(&[package, b"/", path], &[]);
    }

    /// Begins a document of another name, with text `about` it behind a name alone.
    pub fn begin_named(&mut self, name: &[&[u8]], about: &[u8]) {
        self.about.clear();
        self.about.extend_from_slice(about);
        self.head.clear();
        for part in name.iter().chain([&&b":"[..]]) {
            self.head.extend_from_slice(part);
        }
        self.name_bytes = self.head.len();
        self.number = 0;
        self.head.extend_from_slice(b"0:");
    }

    /// Appends a line without its end.
    #[inline]
    pub fn push(&mut self, number: u32, line: &[u8], out: &mut Vec<u8>) {
        self.push_marked(number, b"", line, out);
    }

    #[inline]
    pub fn push_marked(&mut self, number: u32, mark: &[u8], line: &[u8], out: &mut Vec<u8>) {
        self.set_number(number);
        out.reserve(self.head.len() + mark.len() + line.len() + 1);
        out.extend_from_slice(&self.head);
        out.extend_from_slice(mark);
        out.extend_from_slice(line);
        out.push(b'\n');
    }

    pub fn push_name(&self, out: &mut Vec<u8>) {
        let name = &self.head[..self.name_bytes];
        out.extend_from_slice(name.strip_suffix(b":").unwrap_or_default());
        out.extend_from_slice(&self.about);
        out.push(b'\n');
    }

    #[inline]
    fn set_number(&mut self, number: u32) {
        let last = self.head.len() - 2;
        if self.number.checked_add(1) == Some(number) && self.head[last] < b'9' {
            // Neighbours often match.
            self.head[last] += 1;
        } else if self.number != number {
            self.write_number(number);
        }
        self.number = number;
    }

    fn write_number(&mut self, mut number: u32) {
        let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
        self.head.resize(self.name_bytes + digits + 1, b':');
        let (number_at, colon) = self.head[self.name_bytes..].split_at_mut(digits);
        colon[0] = b':';
        for digit in number_at.iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_whatever_came_before() {
        let mut text = LineText::default();
        text.begin(b"p", b"c");
        for number in [
            0,
            1,
            2,
            9,
            10,
            10,
            11,
            19,
            20,
            7,
            8,
            99,
            100,
            101,
            u32::MAX,
            0,
            1,
        ] {
            let mut out = Vec::new();
            text.push(number, b"", &mut out);
            assert_eq!(out, format!("p/c:{number}:\n").into_bytes());
        }
    }

    #[test]
    fn a_line_has_name_and_number() {
        let (mut text, mut out) = (LineText::default(), Vec::new());
        text.begin(b"p", b"a/b.c");
        text.push(1, b"x:\xff", &mut out);
        text.push(u32::MAX, b"", &mut out);
        text.push(10, b"y", &mut out);
        text.push_name(&mut out);
        text.begin(b"p", b"c");
        text.push(0, b"z", &mut out);
        let expected = b"p/a/b.c:1:x:\xff\np/a/b.c:4294967295:\np/a/b.c:10:y\np/a/b.c\np/c:0:z\n";
        assert_eq!(out, expected);
    }
}
