//! The text of a list as it comes: its items are given away one by one, and no list is held as a
//! whole. What is in an item, and around all of them, is for serde_json to judge.

use std::ops::Range;

use crate::hub::request::bounds::REFUSAL;

/// The text of a list of which some came.
#[derive(Debug, Default)]
pub(in crate::hub) struct ListText {
    text: Vec<u8>,
    /// How much of the text is read.
    at: usize,
    /// Where the item that comes begins; `None` outside of the items.
    item: Option<usize>,
    place: JsonPlace,
    /// The list without its items; all of a text that is no list.
    rest: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy)]
struct JsonPlace {
    depth: usize,
    is_quoted: bool,
    is_escaped: bool,
}

/// How deep the items of a list are.
const ITEMS: usize = 2;

/// That a text is not one object with items.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::hub) struct NotAList;

impl ListText {
    pub(in crate::hub) fn push(&mut self, bytes: &[u8]) {
        let read = self.item.unwrap_or(self.at);
        self.text.drain(..read);
        self.at = self.at.saturating_sub(read);
        self.item = self.item.map(|_| 0);
        self.text.extend_from_slice(bytes);
    }

    /// How many bytes are held: of an item that has not ended, or beside the items.
    pub(in crate::hub) fn held(&self) -> usize {
        match self.item {
            Some(from) => self.text.len().saturating_sub(from),
            None => self.rest.len(),
        }
    }

    /// The list without its items, as far as it came.
    pub(in crate::hub) fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// The text of the next item; `None` until more of the list came, and after its last item.
    pub(in crate::hub) fn next(&mut self) -> Result<Option<&str>, NotAList> {
        let Some(item) = self.find_item()? else {
            return Ok(None);
        };
        let item = self.text.get(item).unwrap_or_default().trim_ascii();
        str::from_utf8(item).map(Some).map_err(|_| NotAList)
    }

    fn find_item(&mut self) -> Result<Option<Range<usize>>, NotAList> {
        // A copy: what is in registers is read three times as fast.
        let (mut place, mut at) = (self.place, self.at);
        let mut found = None;
        while let Some(&byte) = self.text.get(at)
            && found.is_none()
        {
            if place.is_quoted && !place.is_escaped && self.item.is_some() {
                let rest = self.text.get(at..).unwrap_or_default();
                let ends = |byte: &u8| matches!(byte, b'"' | b'\\');
                let length = rest.iter().position(ends).unwrap_or(rest.len());
                if length > 0 {
                    at = at.saturating_add(length);
                    continue;
                }
            }
            let is_sign = place.reads_sign(byte);
            match self.item {
                Some(from) if is_sign => found = self.end_item(byte, place.depth, from..at),
                Some(_) => {}
                None => {
                    let opens = is_sign && byte == b'[' && place.depth == ITEMS;
                    self.read_outside(byte, opens, at)?;
                }
            }
            at = at.saturating_add(1);
        }
        (self.place, self.at) = (place, at);
        Ok(found)
    }

    fn end_item(&mut self, sign: u8, depth: usize, item: Range<usize>) -> Option<Range<usize>> {
        if depth < ITEMS {
            self.rest.push(sign);
            self.item = None;
            // Nothing is between the brackets of an empty list.
            let text = self.text.get(item.clone()).unwrap_or_default();
            return Some(item).filter(|_| !text.trim_ascii().is_empty());
        }
        (sign == b',' && depth == ITEMS).then(|| {
            self.item = Some(item.end.saturating_add(1));
            item
        })
    }

    fn read_outside(&mut self, byte: u8, opens: bool, at: usize) -> Result<(), NotAList> {
        if opens {
            let before = self.rest.trim_ascii_end().strip_suffix(b":");
            if before.is_some_and(|before| before.trim_ascii_end().ends_with(b"\"items\"")) {
                self.item = Some(at.saturating_add(1));
            }
        }
        self.rest.push(byte);
        // The beginning of a page says what it is.
        let is_page = self.rest.len() == REFUSAL
            && !matches!(self.rest.trim_ascii_start().first(), None | Some(b'{'));
        if is_page { Err(NotAList) } else { Ok(()) }
    }
}

impl JsonPlace {
    /// Reads a byte: whether it is a sign that opens, closes, or divides.
    #[inline]
    const fn reads_sign(&mut self, byte: u8) -> bool {
        if self.is_quoted {
            if self.is_escaped {
                self.is_escaped = false;
            } else {
                self.is_escaped = byte == b'\\';
                self.is_quoted = byte != b'"';
            }
            return false;
        }
        match byte {
            b'"' => self.is_quoted = true,
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b',' => {}
            _ => return false,
        }
        byte != b'"'
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ListText, NotAList, REFUSAL};

    /// The items of a text that comes in pieces of a size, and the fields.
    fn read(text: &str, size: usize) -> Result<(Vec<Value>, Value), NotAList> {
        let mut list = ListText::default();
        let mut items = Vec::new();
        let mut pieces = text.as_bytes().chunks(size);
        loop {
            let piece = pieces.next();
            list.push(piece.unwrap_or_default());
            while let Some(item) = list.next()? {
                items.push(serde_json::from_str(item).map_err(|_| NotAList)?);
            }
            if piece.is_none() {
                let rest = serde_json::from_slice(list.rest()).map_err(|_| NotAList)?;
                return Ok((items, rest));
            }
        }
    }

    #[test]
    fn items_are_read_however_the_text_comes() {
        let item = json!({"a": ["]", {"b": "}\",é"}], "items": [1, 2]});
        let head = json!({"continue": "x", "items": [3]});
        let list = json!({"apiVersion": "v1", "items": [item, 7, "s", null], "metadata": head});
        for text in [
            list.to_string(),
            serde_json::to_string_pretty(&list).unwrap(),
            // The other order of the fields.
            format!(r#"{{"metadata":{head},"apiVersion":"v1","items":[{item},7,"s",null]}}"#),
        ] {
            for size in [1, 2, 3, 7, 16, 1000] {
                let (items, rest) = read(&text, size).unwrap();
                assert_eq!(items, [item.clone(), json!(7), json!("s"), Value::Null]);
                let own = json!({"apiVersion": "v1", "items": [], "metadata": head});
                assert_eq!(rest, own);
            }
        }
    }

    #[test]
    fn a_text_without_items_is_left_as_it_is() {
        for text in [
            r#"{"items":[]}"#,
            " {\n \"items\" : null } ",
            "{}",
            r#"{"kind":"Status","code":401}"#,
            r#"[{"items":[{}]}]"#,
            r#"{"a":{"items":[1]},"b":"\"items\":[{}"}"#,
        ] {
            for size in [1, 5, 100] {
                let (items, rest) = read(text, size).unwrap();
                assert!(items.is_empty(), "{text}");
                assert_eq!(rest, serde_json::from_str::<Value>(text).unwrap());
            }
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in [
            "",
            "<html>",
            "{",
            r#"{"items":[{}"#,
            r#"{"items":[{}]"#,
            r#"{"items":[{}{}]}"#,
            r#"{"items":[,{}]}"#,
            r#"{"items" []}"#,
            r"{7:[]}",
            r#"{"items":[]}x"#,
            r#"{"items":[]}{}"#,
            r#"{"items":[{]}"#,
            r#"{"items":[}"#,
            r#"{"items":[tru]}"#,
            r#"{"items":[] "a":1}"#,
            r#"{,"items":[]}"#,
        ] {
            for size in [1, 3, 100] {
                assert_eq!(read(text, size), Err(NotAList), "{text}");
            }
        }
    }

    #[test]
    fn what_is_read_is_not_held() {
        let mut list = ListText::default();
        list.push(br#"{"items":["#);
        for _ in 0..1000 {
            list.push(br#"{"a":"bcdefghijklmnopqrstuvwxyz"},"#);
            while list.next().unwrap().is_some() {}
            assert!(list.text.capacity() < 300);
        }
        for (first, read) in [("", Ok(None)), ("{", Ok(None)), ("<", Err(NotAList))] {
            let mut list = ListText::default();
            list.push(format!("{first}{}", " ".repeat(REFUSAL)).as_bytes());
            assert_eq!(list.next(), read);
            assert!(list.held() >= REFUSAL);
        }
    }
}
