//! Operation by keyboard: every control is reached with Tab, and its focus is visible.

use serde_json::{Value, json};

use crate::driver::Browser;

pub(crate) const TAB: char = '\u{e004}';
pub(crate) const ENTER: char = '\u{e007}';
const SPACE: char = ' ';

/// More than any page has focusable elements.
const STOPS: usize = 200;

impl Browser {
    /// Presses a key, wherever the focus is.
    pub(crate) async fn press(&self, key: char) {
        self.keys(&key.to_string()).await;
    }

    /// Presses a key while another is held down.
    pub(crate) async fn chord(&self, held: char, key: char) {
        let stroke = |kind: &str, key: char| json!({"type": kind, "value": key.to_string()});
        let actions = [stroke("keyDown", held), stroke("keyDown", key), stroke("keyUp", key), stroke("keyUp", held)];
        self.post("/actions", json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})).await;
    }

    async fn keys(&self, keys: &str) {
        let strokes = keys.chars().map(String::from);
        let strokes = strokes.flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key})));
        let actions: Vec<Value> = strokes.collect();
        self.post("/actions", json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})).await;
    }

    /// Focuses what `selector` finds and presses it.
    pub(super) async fn reach_and_press(&self, selector: &str) {
        let kind = self.reach(selector).await;
        self.press(if kind == "checkbox" { SPACE } else { ENTER }).await;
    }

    /// Focuses the field that `selector` finds and types into it.
    pub(super) async fn reach_and_type(&self, selector: &str, text: &str) {
        self.reach(selector).await;
        self.keys(text).await;
    }

    /// Presses Tab until the focus is on what `selector` finds; returns its type.
    pub(crate) async fn reach(&self, selector: &str) -> String {
        self.wait_for(selector).await;
        let look = format!(
            "const at = document.activeElement; \
             return [at === document.querySelector({}), at.type ?? '', getComputedStyle(at).outlineStyle]",
            json!(selector)
        );
        for _ in 0..STOPS {
            let focus = self.run(&look).await;
            if focus[0] == true {
                assert_ne!(focus[2], "none", "the focus on {selector} cannot be seen");
                return focus[1].as_str().unwrap_or_default().to_owned();
            }
            self.press(TAB).await;
        }
        panic!("{selector} cannot be reached");
    }
}
