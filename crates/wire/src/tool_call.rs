//! A tool call as requests and answers write it: a name, and arguments that are JSON or a string
//! that holds JSON.

use std::borrow::Cow;

use model::ToolCall;

use crate::json::{Cursor, Json, Malformed};

/// A tool call and its id.
#[derive(Debug)]
pub(crate) struct CallWithId<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) call: ToolCall<'a>,
}

/// A call before any part of it is read.
pub(crate) const NO_CALL: ToolCall<'static> = ToolCall { name: Cow::Borrowed(""), arguments: Cow::Borrowed("") };

/// Reads a name and its arguments from the cursor.
pub(crate) fn read_named<'a>(cursor: &mut Cursor<'a>) -> Result<ToolCall<'a>, Malformed> {
    let mut call = NO_CALL;
    cursor.fields(|key, value| read_field(&mut call, key, value))?;
    Ok(call)
}

/// Reads one field of a call. Each dialect has its own key for the arguments.
pub(crate) fn read_field<'a>(call: &mut ToolCall<'a>, key: &str, value: Json<'a>) {
    match key {
        "name" => call.name = value.text().unwrap_or_default(),
        "arguments" | "input" | "args" => call.arguments = value.text().unwrap_or(Cow::Borrowed(value.raw())),
        _ => {}
    }
}

/// Reads a name and its arguments from a value.
pub(crate) fn read_value(value: Json<'_>) -> ToolCall<'_> {
    // Cannot fail: a `Json` is valid by construction.
    read_named(&mut value.cursor()).unwrap_or(NO_CALL)
}

/// Reads an item of Responses: `{"type":"function_call","call_id","name","arguments":"…"}`. A
/// built-in tool has no name, so its type stands for it, and each keeps its arguments under a key
/// of its own.
pub(crate) fn read_item(item: Json<'_>) -> CallWithId<'_> {
    let (mut id, mut kind, mut call) = (None, Cow::default(), read_value(item));
    item.fields(|key, value| match key {
        "call_id" => id = value.text(),
        "type" => kind = value.text().unwrap_or_default(),
        "action" | "operation" | "queries" | "code" if call.arguments.is_empty() => call.arguments = value.raw().into(),
        _ => {}
    });
    if call.name.is_empty() {
        call.name = kind;
    }
    CallWithId { id, call }
}
