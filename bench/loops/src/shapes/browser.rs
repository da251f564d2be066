//! Browser agents: the page is written anew into every prompt, and the action is read from the text
//! of the answer.

use crate::clock::rfc3339;
use crate::conversation::{Answer, Conversation};
use crate::material::words;
use crate::rng::Rng;
use crate::run::Run;

const SYSTEM: &str =
    "You control a browser. Answer with one action: click('id'), fill('id', 'text'), scroll(0, y), go_back().";

/// How a prompt is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Goal, page and all past actions in one message.
    History,
    /// Goal, page, the number of the step, the time and the last action in one message.
    LastAction,
    /// Goal and page only.
    NoHistory,
    /// A conversation in which only the newest page is kept.
    Conversation,
}

/// How the answer writes its action.
#[derive(Clone, Copy, Debug)]
enum Writing {
    Fenced,
    LastLine,
    ActionLine,
    Inline,
    Json,
}

/// One agent on its way to a goal.
pub(super) struct Browser {
    goal: String,
    layout: Layout,
    writing: Writing,
    /// What was answered at each step, and the action in it.
    past: Vec<(String, String)>,
}

impl Browser {
    /// An agent with a goal, a layout and a way of writing that the seed picks.
    pub(super) fn new(run: &mut Run) -> Browser {
        let layout = run.rng.pick(&[Layout::History, Layout::LastAction, Layout::Conversation]);
        Browser::with_layout(run, layout)
    }

    pub(super) fn with_layout(run: &mut Run, layout: Layout) -> Browser {
        let goal = format!(
            "Find the cheapest {} that ships to {}.",
            run.rng.pick(words::PRODUCTS),
            run.rng.pick(words::CITIES)
        );
        let writings = [Writing::Fenced, Writing::LastLine, Writing::ActionLine, Writing::Inline, Writing::Json];
        Browser { goal, layout, writing: run.rng.pick(&writings), past: Vec::new() }
    }

    /// Sees `page` and answers with a thought and an action.
    pub(super) fn step(&mut self, run: &mut Run, page: &str, thought: &str, action: &str) {
        let mut chat = self.prompt(run, page);
        let answer = self.writing.write(thought, action);
        run.answer(&mut chat, &answer);
        self.past.push((answer, action.to_owned()));
    }

    fn prompt(&self, run: &mut Run, page: &str) -> Conversation {
        let mut chat = run.open_with(SYSTEM, &[], None);
        let Browser { goal, past, .. } = self;
        match self.layout {
            Layout::History => {
                let actions: Vec<&str> = past.iter().map(|(_, action)| action.as_str()).collect();
                let actions = actions.join("\n");
                chat.push_user(&format!(
                    "# Goal\n{goal}\n\n# Page\n{page}\n\n# Past actions\n{actions}\n\n# Next action"
                ));
            }
            Layout::LastAction => {
                let last = past.last().map_or("None", |(_, action)| action.as_str());
                let (step, time) = (past.len() + 1, rfc3339(run.now));
                chat.push_user(&format!(
                    "Step {step} of 60, {time}\nOBJECTIVE: {goal}\nOBSERVATION:\n{page}\nPREVIOUS ACTION: {last}"
                ));
            }
            Layout::NoHistory => chat.push_user(&format!("# Goal\n{goal}\n\n# Page\n{page}\n\n# Next action")),
            Layout::Conversation => {
                chat.push_user(&format!("Your goal: {goal}"));
                for (answer, _) in past {
                    chat.push_answer(&Answer { text: answer.clone(), calls: Vec::new() });
                    chat.push_user("(page omitted)");
                }
                chat.push_user(&format!("Current page:\n{page}"));
            }
        }
        chat
    }
}

impl Writing {
    fn write(self, thought: &str, action: &str) -> String {
        match self {
            Writing::Fenced => format!("{thought}\n```\n{action}\n```"),
            Writing::LastLine => format!("{thought}\n\n{action}"),
            Writing::ActionLine => format!("Thought: {thought}\nAction: {action}"),
            Writing::Inline => format!("{thought} In summary, the next action I will perform is ```{action}```"),
            Writing::Json => serde_json::json!({"thought": thought, "action": action}).to_string(),
        }
    }
}

/// A page as an accessibility tree.
pub(super) fn page(rng: &mut Rng, title: &str) -> String {
    let start = rng.range(20..=400);
    let row = |place: i64, rng: &mut Rng| {
        format!("[{}] link '{} {}'\n", start + place * 3, rng.pick(words::ADJECTIVES), rng.pick(words::PRODUCTS))
    };
    let rows: String = (0..9).map(|place| row(place, rng)).collect();
    format!("RootWebArea '{title}'\n{rows}")
}
