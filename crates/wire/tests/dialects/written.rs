//! Agents that write their actions, or their whole history, as text.

use http::HeaderMap;
use model::Asked;
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::{Dialect, conversation_of, read_request};

use crate::requests::{anthropic, calls, chat, read};

/// The calls and results of a request in which the model said `said` and the user answered with
/// `answer`.
fn check(said: &str, answer: &str, expected: &[(&str, &str)], result: &str) {
    let messages = json!([
        { "role": "user", "content": "Find a lamp" },
        { "role": "assistant", "content": said },
        { "role": "user", "content": answer },
    ]);
    chat(messages, |asked| {
        assert_eq!(calls(asked), expected, "{said}");
        assert_eq!(asked.calls_are_written, !expected.is_empty(), "{said}");
        assert_eq!(asked.tool_results.concat(), result, "{said}");
        assert_eq!((asked.turn_position, asked.depth, asked.turn_message.as_ref()), (1, 0, None), "{said}");
        assert_eq!(asked.prompt, [answer]);
    });
}

#[test]
fn actions_before_the_prompt_are_calls() {
    let langchain = "Thought: I search.\nAction: search\nAction Input: {\"q\": \"lamp\"}";
    check(langchain, "Observation: 3 found", &[("search", "{\"q\": \"lamp\"}")], "3 found");
    check("Thought 4: so\nAction 4: Search[lamp]", "Observation 4: none", &[("Search", "lamp")], "none");
    check("I open the menu.\n\nclick('242')", "[243] menu", &[("click", "'242'")], "[243] menu");
    check("fill('3', 'lamp')\nclick('4')\n", "ok", &[("fill", "'3', 'lamp'"), ("click", "'4'")], "ok");
    check("Now:\ntype [164] [lamp] [1]", "page", &[("type", "[164] [lamp] [1]")], "page");
    check("… is ```click [1582]```", "page", &[("click", "1582")], "page");
    let json = r#"{"thought": "I open it.", "action": "click", "index": 4}"#;
    check(json, "Current url: a\n[4] menu", &[("click", r#"{"index":4}"#)], "Current url: a\nmenu");
    check("<tool_call>\n{\"name\":\"ls\",\"arguments\":{}}\n</tool_call>", "a.rs", &[("ls", "{}")], "a.rs");
    check(
        "```bash\ncat > x <<E\n<my_tag>\n</my_tag>\nE\n```",
        "ok",
        &[("bash", "cat > x <<E\n<my_tag>\n</my_tag>\nE")],
        "ok",
    );
}

#[test]
fn prose_holds_no_action() {
    for said in [
        "You can call click('242') to open it.",
        "Use print(x).",
        "See the sources [1] [2]",
        "Note: the Action: field is empty",
        "Is that right?",
        "Final Answer: search(lamp)",
        r#"{"answer": "yes", "sources": [1]}"#,
    ] {
        check(said, "Thanks", &[], "");
    }
}

#[test]
fn a_picture_belongs_to_the_result() {
    let messages = json!([
        { "role": "user", "content": "Find a lamp" },
        { "role": "assistant", "content": "Thought: below\nAction: Scroll [WINDOW]; [down]" },
        { "role": "user", "content": [
            { "type": "text", "text": "Observation: see the screenshot" },
            { "type": "image_url", "image_url": { "url": "data:AAAA" } },
        ] },
    ]);
    chat(messages, |asked| {
        assert_eq!(calls(asked), [("Scroll", "[WINDOW]; [down]")]);
        assert_eq!(asked.tool_results, ["see the screenshot", "{\"url\":\"data:AAAA\"}"]);
    });
}

#[test]
fn a_result_inside_the_model_s_message_is_read() {
    let step = |number: usize| {
        let text =
            format!("Thought: so\nAction: search\nAction Input: {{\"q\": {number}}}\nObservation: none of {number}");
        json!({ "role": "assistant", "content": text })
    };
    let task = json!({ "role": "user", "content": "Find a lamp" });
    chat(json!([task, step(1), step(2)]), |asked| {
        assert_eq!((calls(asked), asked.depth), (vec![("search", "{\"q\": 2}")], 2));
        assert_eq!(asked.tool_results, ["none of 2"]);
    });
    // Some providers want a user's message at the end.
    chat(json!([task, step(1), step(2), { "role": "user", "content": "Please continue." }]), |asked| {
        assert_eq!((calls(asked), asked.depth, asked.turn_position), (vec![("search", "{\"q\": 2}")], 3, 0));
        assert_eq!(asked.tool_results, ["none of 2"]);
    });
}

#[test]
fn message_after_results_continues_the_turn() {
    let call = json!([{ "id": "a", "type": "function", "function": { "name": "run", "arguments": "{}" } }]);
    let mut messages = vec![json!({ "role": "user", "content": "Fix it" })];
    for depth in [3, 6, 9] {
        messages.push(json!({ "role": "assistant", "tool_calls": call }));
        messages.push(json!({ "role": "tool", "tool_call_id": "a", "content": "done" }));
        messages.push(json!({ "role": "user", "content": "Remember the rules." }));
        chat(Value::from(messages.clone()), |asked| {
            assert_eq!(asked.prompt, ["Remember the rules."]);
            assert_eq!((asked.turn_position, asked.depth), (0, depth));
            assert_eq!(asked.turn_message.as_deref(), Some(&["Fix it".into()][..]));
            assert_eq!((calls(asked), asked.calls_are_written), (vec![("run", "{}")], false));
            assert_eq!(asked.tool_results, ["done"]);
        });
    }
    messages.push(json!({ "role": "assistant", "content": "It works." }));
    messages.push(json!({ "role": "user", "content": "Thanks" }));
    chat(Value::from(messages), |asked| {
        assert_eq!((asked.turn_position, asked.depth, asked.turn_message.as_ref()), (1, 0, None));
        assert!(asked.tool_calls.is_empty());
    });
}

#[test]
fn page_after_results_is_a_result() {
    let messages = json!([
        { "role": "user", "content": "Find a lamp" },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "scroll", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": "Scrolled" }] },
        { "role": "user", "content": "Current url: http://shop.example/\n[1] link" },
    ]);
    anthropic(messages, |asked| {
        assert_eq!(asked.tool_results, ["Scrolled", "Current url: http://shop.example/\nlink"]);
    });
}

/// What a run's requests have in common: conversation, turn and position.
fn place(asked: &Asked<'_>) -> (String, String, u32) {
    let turn = asked.turn_message.as_ref().unwrap_or(&asked.prompt).concat();
    (conversation_of(&HeaderMap::new(), asked), turn, asked.turn_position)
}

/// The depth, the calls and the result of one request.
type Step<'e> = (u32, &'e [(&'e str, &'e str)], &'e str);

/// Reads a run whose requests hold one prompt each, in several dialects.
fn check_run(prompts: &[String], task: &str, expected: &[Step<'_>]) {
    let mut places = Vec::new();
    for (prompt, (depth, step, result)) in prompts.iter().zip(expected) {
        let bodies = [
            (Dialect::ChatCompletions, json!({ "messages": [{ "role": "user", "content": prompt }] })),
            (
                Dialect::Messages,
                json!({ "messages": [{ "role": "user", "content": [{ "type": "text", "text": prompt }] }] }),
            ),
            (Dialect::Completions, json!({ "prompt": prompt })),
            (
                Dialect::ChatCompletions,
                json!({ "messages": [
                { "role": "user", "content": "An example" },
                { "role": "assistant", "content": "```click [1]```" },
                { "role": "user", "content": prompt },
            ] }),
            ),
        ];
        for (dialect, body) in &bodies {
            read(*dialect, body, |asked| {
                assert_eq!((calls(asked), &*asked.tool_results.concat()), (step.to_vec(), *result), "{prompt}");
                assert_eq!(&*asked.prompt, &[prompt.as_str()], "the formula compares the whole message");
                places.push(place(asked));
            });
        }
        read(Dialect::Completions, &bodies[2].1, |asked| assert_eq!(asked.depth, *depth));
    }
    assert_eq!(places[0].1, task);
    assert!(places.iter().all(|place| *place == places[0]), "{places:?}");
}

#[test]
fn a_scratchpad_is_one_conversation() {
    let examples = "Solve it with Thought, Action and Observation steps.\nQuestion: Which is longer?\nThought 1: I search.\n\
        Action 1: Search[Nile]\nObservation 1: 6,650 km\nThought 2: So.\nAction 2: Finish[Nile]\n\n";
    let begin = format!("{examples}Question: Who built it?\nThought 1:");
    let first = format!("{begin} I search.\nAction 1: Search[bridge]\nObservation 1: Could not find it.\nThought 2:");
    let second = format!("{first} Again.\nAction 2:");
    let third = format!("{second} Search[bridge]\nObservation 2: Could not find it.\nThought 3:");
    check_run(
        &[begin, first, second, third],
        "Who built it?",
        &[
            (0, &[], ""),
            (1, &[("Search", "bridge")], "Could not find it."),
            (1, &[], ""),
            (2, &[("Search", "bridge")], "Could not find it."),
        ],
    );
}

#[test]
fn a_rebuilt_page_is_one_conversation() {
    let prompt = |page: &str, action: &str| {
        format!("OBSERVATION:\n{page}\nURL: http://shop.example\nOBJECTIVE: Find a lamp\nPREVIOUS ACTION: {action}")
    };
    check_run(
        &[prompt("[1] link 'Lamps'", "None"), prompt("[7] img", "click [1]"), prompt("[7] img", "scroll [down]")],
        "Find a lamp",
        &[(0, &[], ""), (1, &[("click", "1")], "img"), (1, &[("scroll", "down")], "img")],
    );
    let prompt = |page: &str, history: &str| {
        format!(
            "# Goal\nFind a lamp\n# Observation of current step:\n{page}\n# History of interaction with the task:\n{history}"
        )
    };
    let steps = "## step 0\n<action>noop()</action>\n## step 1\n<action>\nclick('a51')\n</action>";
    check_run(
        &[prompt("[a51] link", ""), prompt("[b7] img", steps)],
        "Find a lamp",
        &[(0, &[], ""), (2, &[("click", "'a51'")], "[b7] img")],
    );
}

#[test]
fn pieces_of_one_prompt_are_read_together() {
    let parts = [
        "# Goal",
        "Find a lamp",
        "# Current page Accessibility Tree",
        "[3] link",
        "# History of past actions",
        "click('2')",
    ];
    let parts: Vec<Value> = parts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
    chat(json!([{ "role": "user", "content": parts }]), |asked| {
        assert_eq!((calls(asked), &*asked.tool_results), (vec![("click", "'2'")], &["link".into()][..]));
        assert_eq!(asked.prompt.len(), 6);
    });
}

#[test]
fn long_texts_take_linear_time() {
    for line in [
        "Action: a(",
        "Observation: b\n",
        "Question: c\n\n",
        "OBSERVATION:\n",
        "# History\n",
        "<action>\n",
        "<a_b>\n",
        "```",
        "click [",
        "  ",
    ] {
        let text = format!("Observation\n{}", line.repeat(20_000));
        let messages = json!([
            { "role": "user", "content": "Find it" }, { "role": "assistant", "content": text }, { "role": "user", "content": text },
        ]);
        chat(messages, |asked| assert!(asked.tool_calls.len() <= 64, "{line}"));
    }
}

proptest! {
    /// Any text is read without a panic, and the prompt stays what the user wrote.
    #[test]
    fn any_mixture_of_marks_is_read(pieces in prop::collection::vec(prop::sample::select(vec![
        "Question: a", "Thought:", "Thought 2: b", "Action: c[d]", "Action Input: e", "Observation: f", "Observation 9:", "Begin!",
        "OBSERVATION:", "OBJECTIVE: g", "PREVIOUS ACTION: h", "# Goal", "## step 1", "# History", "<action>", "</action>", "<step_1>",
        "</agent_history>", "<agent_history>", "<user_request>i</user_request>", "<tool_call>{", "<function=j>", "```k", "```l```",
        "m('n", "o(p)", "é:", "**Action:** q", "Final Answer: r", "Step 3: s", "\r", "", "[", ")",
    ]), 0..24)) {
        let text = pieces.join("\n");
        let body = json!({ "messages": [
            { "role": "user", "content": "Find it" }, { "role": "assistant", "content": text }, { "role": "user", "content": text },
        ] }).to_string();
        let asked = read_request(Dialect::ChatCompletions, body.as_bytes()).expect("valid JSON");
        if !text.is_empty() {
            prop_assert_eq!(asked.prompt.concat(), text);
        }
    }
}
