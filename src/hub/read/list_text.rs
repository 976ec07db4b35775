//! The text of a list as it comes: its items are read one by one, and no list is held as a whole.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// The text of a list of which some came.
#[derive(Debug, Default)]
pub(in crate::hub) struct ListText {
    text: Vec<u8>,
    /// How much of the text is read.
    at: usize,
    place: JsonPlace,
    /// Whether a value ended here: a comma or the end follows.
    follows: bool,
    /// A value that is cut is read again when there is as much of it.
    enough: usize,
    is_all: bool,
    has_items: bool,
    fields: Map<String, Value>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum JsonPlace {
    #[default]
    Before,
    Fields,
    Items,
    After,
}

/// That a text is not one object with items.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::hub) struct NotAList;

/// What comes next in an object or an array.
enum NextToken {
    Value,
    End,
    /// That has not come yet.
    Unknown,
}

impl ListText {
    /// Takes more of the text.
    pub(in crate::hub) fn push(&mut self, bytes: &[u8]) {
        self.text.drain(..self.at);
        self.at = 0;
        self.text.extend_from_slice(bytes);
    }

    /// Takes note that no more comes.
    pub(in crate::hub) const fn end(&mut self) {
        self.is_all = true;
    }

    /// Whether no more comes.
    pub(in crate::hub) const fn is_all(&self) -> bool {
        self.is_all
    }

    /// The text of the next item; `None` until more of the list came, and after its last item.
    pub(in crate::hub) fn next(&mut self) -> Result<Option<&str>, NotAList> {
        loop {
            let goes_on = match self.place {
                JsonPlace::Before => match self.byte() {
                    Some(b'{') => {
                        self.open(JsonPlace::Fields);
                        true
                    }
                    Some(_) => return Err(NotAList),
                    None => false,
                },
                JsonPlace::Fields => self.field()?,
                JsonPlace::Items => match self.follows(b']')? {
                    NextToken::Value => return self.item(),
                    NextToken::End => {
                        self.place = JsonPlace::Fields;
                        true
                    }
                    NextToken::Unknown => false,
                },
                JsonPlace::After => match self.byte() {
                    Some(_) => return Err(NotAList),
                    None => false,
                },
            };
            if !goes_on {
                return Ok(None);
            }
        }
    }

    /// The list's own fields, once it is read to its end, and whether it has items.
    pub(in crate::hub) fn fields(self) -> Result<(Value, bool), NotAList> {
        match self.place {
            JsonPlace::After => Ok((Value::Object(self.fields), self.has_items)),
            _ => Err(NotAList),
        }
    }

    /// Reads an item, if all of it has come.
    fn item(&mut self) -> Result<Option<&str>, NotAList> {
        let from = self.at;
        let Some((IgnoredAny, to)) = self.value(from)? else {
            return Ok(None);
        };
        self.done(to);
        let item = self.text.get(from..to).unwrap_or_default();
        str::from_utf8(item).map(Some).map_err(|_| NotAList)
    }

    /// Reads a field; whether it had come. The items are left to be read.
    fn field(&mut self) -> Result<bool, NotAList> {
        match self.follows(b'}')? {
            NextToken::Value => {}
            NextToken::End => {
                self.place = JsonPlace::After;
                return Ok(true);
            }
            NextToken::Unknown => return Ok(false),
        }
        let Some((name, to)) = self.value::<String>(self.at)? else {
            return Ok(false);
        };
        let Some((byte, colon)) = self.byte_at(to) else {
            return Ok(false);
        };
        if byte != b':' {
            return Err(NotAList);
        }
        let Some((first, from)) = self.byte_at(colon.saturating_add(1)) else {
            return Ok(false);
        };
        let are_items = name == "items";
        if are_items && first == b'[' {
            self.has_items = true;
            self.at = from;
            self.open(JsonPlace::Items);
            return Ok(true);
        }
        let Some((value, to)) = self.value::<Value>(from)? else {
            return Ok(false);
        };
        match value {
            // That is how Go writes that there are none.
            Value::Null if are_items => self.has_items = true,
            _ if are_items => return Err(NotAList),
            value => {
                self.fields.insert(name, value);
            }
        }
        self.done(to);
        Ok(true)
    }

    /// Goes into what begins here.
    const fn open(&mut self, place: JsonPlace) {
        self.at = self.at.saturating_add(1);
        self.place = place;
        self.follows = false;
    }

    /// Goes on after a value.
    const fn done(&mut self, to: usize) {
        self.at = to;
        self.follows = true;
        self.enough = 0;
    }

    /// What comes next up to this end.
    fn follows(&mut self, end: u8) -> Result<NextToken, NotAList> {
        loop {
            match self.byte() {
                None => return Ok(NextToken::Unknown),
                Some(b',') if self.follows => {
                    self.at = self.at.saturating_add(1);
                    self.follows = false;
                }
                Some(byte) if byte == end => {
                    self.done(self.at.saturating_add(1));
                    return Ok(NextToken::End);
                }
                Some(_) if self.follows => return Err(NotAList),
                Some(_) => return Ok(NextToken::Value),
            }
        }
    }

    /// The next byte that is not space, to which it goes.
    fn byte(&mut self) -> Option<u8> {
        let found = self.byte_at(self.at);
        self.at = found.map_or(self.text.len(), |(_, at)| at);
        found.map(|(byte, _)| byte)
    }

    /// The next byte from a place on that is not space, and its place.
    fn byte_at(&self, from: usize) -> Option<(u8, usize)> {
        let rest = self.text.get(from..)?.iter();
        let found = rest
            .enumerate()
            .find(|(_, byte)| !byte.is_ascii_whitespace());
        found.map(|(at, byte)| (*byte, from.saturating_add(at)))
    }

    /// The value that begins at a place, and where it ends; `None` where it is cut.
    fn value<T: for<'t> Deserialize<'t>>(
        &mut self,
        from: usize,
    ) -> Result<Option<(T, usize)>, NotAList> {
        let text = self.text.get(from..).unwrap_or_default();
        if text.len() < self.enough && !self.is_all {
            return Ok(None);
        }
        let mut values = serde_json::Deserializer::from_slice(text).into_iter::<T>();
        match values.next() {
            // What ends a number follows it.
            Some(Ok(value)) if values.byte_offset() < text.len() => {
                let to = from.saturating_add(values.byte_offset());
                Ok(Some((value, to)))
            }
            Some(Err(error)) if !error.is_eof() => Err(NotAList),
            _ => {
                self.enough = text.len().saturating_mul(2);
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ListText, NotAList};

    /// The items of a text that comes in pieces of a size, and the fields.
    fn read(text: &str, size: usize) -> Result<(Vec<Value>, Value, bool), NotAList> {
        let mut list = ListText::default();
        let mut items = Vec::new();
        let mut pieces = text.as_bytes().chunks(size);
        loop {
            match pieces.next() {
                Some(piece) => list.push(piece),
                None => list.end(),
            }
            while let Some(item) = list.next()? {
                items.push(serde_json::from_str(item).map_err(|_| NotAList)?);
            }
            if list.is_all {
                let (fields, has_items) = list.fields()?;
                return Ok((items, fields, has_items));
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
                let (items, fields, has_items) = read(&text, size).unwrap();
                assert_eq!(items, [item.clone(), json!(7), json!("s"), Value::Null]);
                assert_eq!(fields, json!({"apiVersion": "v1", "metadata": head}));
                assert!(has_items);
            }
        }
    }

    #[test]
    fn a_list_may_be_empty_and_has_items_all_the_same() {
        for (text, has) in [
            (r#"{"items":[]}"#, true),
            (" {\n \"items\" : null } ", true),
            ("{}", false),
            (r#"{"kind":"Status","code":401}"#, false),
        ] {
            for size in [1, 5, 100] {
                let (items, _, has_items) = read(text, size).unwrap();
                assert!(items.is_empty(), "{text}");
                assert_eq!(has_items, has, "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in [
            "",
            "null",
            "[]",
            "7",
            "<html>",
            "{",
            r#"{"items":[{}"#,
            r#"{"items":[{}]"#,
            r#"{"items":[{}{}]}"#,
            r#"{"items":[,{}]}"#,
            r#"{"items":{}}"#,
            r#"{"items":7}"#,
            r#"{"items" []}"#,
            r"{7:[]}",
            r#"{"items":[]}x"#,
            r#"{"items":[]}{}"#,
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
        // A part of an item is not looked at again for every few bytes more.
        list.push(br#"{"a":""#);
        assert_eq!(list.next(), Ok(None));
        let enough = list.enough;
        list.push(b"x");
        assert_eq!(list.next(), Ok(None));
        assert_eq!(list.enough, enough);
    }
}
