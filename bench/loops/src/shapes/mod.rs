//! The catalogue of shapes: what a healthy run or a loop looks like, each as a small function that
//! writes one run.

mod browser;
mod healthy;
mod logbook;
mod rebuilt;
mod steps;
mod stuck;

use crate::conversation::Form;
use crate::rng::Rng;
use crate::run::Run;

/// One shape.
pub(crate) struct Shape {
    pub(crate) name: String,
    pub(crate) is_loop: bool,
    forms: &'static [Form],
    write: Box<dyn Fn(&mut Run)>,
}

const BOTH: &[Form] = &[Form::ChatCompletions, Form::Anthropic];

impl Shape {
    /// A shape in Chat Completions and Messages.
    fn new(name: &str, is_loop: bool, write: impl Fn(&mut Run) + 'static) -> Shape {
        Shape { name: name.to_owned(), is_loop, forms: BOTH, write: Box::new(write) }
    }

    /// A shape that coding agents have: in Responses, too.
    fn with_codex(self) -> Shape {
        Shape { forms: &Form::CODING, ..self }
    }

    /// A shape in these forms.
    fn in_forms(self, forms: &'static [Form]) -> Shape {
        Shape { forms, ..self }
    }

    /// The replay line of each form for one seed.
    pub(crate) fn lines(&self, seed: u64) -> impl Iterator<Item = String> {
        self.forms.iter().map(move |form| {
            let id = format!("{}/{}/{seed}", self.name, form.name());
            let mut run = Run::new(*form, Rng::named(&id, seed));
            (self.write)(&mut run);
            run.line(&id, &self.name, self.is_loop)
        })
    }
}

/// Pairs of forms for shapes that belong to no client.
const PAIRS: [&[Form]; 4] = [
    &[Form::ChatCompletions, Form::Gemini],
    &[Form::Anthropic, Form::Responses],
    &[Form::Responses, Form::ChatCompletions],
    &[Form::Gemini, Form::Anthropic],
];

/// The shapes with another pair of forms each.
fn rotate_forms(shapes: impl Iterator<Item = Shape>) -> Vec<Shape> {
    shapes.zip(PAIRS.iter().cycle()).map(|(shape, forms)| shape.in_forms(forms)).collect()
}

/// All shapes, healthy ones first.
pub(crate) fn all() -> Vec<Shape> {
    let mut shapes = healthy::shapes();
    shapes.extend(stuck::shapes());
    shapes
}

/// Shapes by their names and functions.
macro_rules! shapes {
    ($is_loop:literal; $($name:ident),* $(,)?) => {
        vec![$($crate::shapes::Shape::new(stringify!($name), $is_loop, $name)),*]
    };
}
use shapes;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Line {
        id: String,
        first_stuck_call: Option<usize>,
        calls: Vec<Call>,
    }

    #[derive(Deserialize)]
    struct Call {
        timestamp: String,
    }

    #[test]
    fn runs_have_times_that_rise_and_tell_where_they_are_stuck() {
        for shape in all() {
            for line in shape.lines(1) {
                let Line { id, first_stuck_call, calls } = serde_json::from_str(&line).unwrap();
                assert!(calls.is_sorted_by_key(|call| &call.timestamp), "{id}");
                assert_eq!(first_stuck_call.is_some(), shape.is_loop, "{id}");
                match first_stuck_call {
                    Some(first) => assert!(calls.len() >= first + 15, "{id}: {} calls", calls.len()),
                    None => assert!((60..=1_000).contains(&calls.len()), "{id}: {} calls", calls.len()),
                }
            }
        }
    }

    #[test]
    fn names_are_unique_and_seeds_repeatable() {
        let shapes = all();
        let names: BTreeSet<&str> = shapes.iter().map(|shape| shape.name.as_str()).collect();
        assert_eq!(names.len(), shapes.len());
        for shape in shapes.iter().take(5) {
            assert_eq!(shape.lines(3).collect::<Vec<_>>(), shape.lines(3).collect::<Vec<_>>());
            assert_ne!(shape.lines(3).collect::<Vec<_>>(), shape.lines(4).collect::<Vec<_>>());
        }
    }
}
