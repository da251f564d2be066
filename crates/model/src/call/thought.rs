//! Fields of a JSON action in which a model thinks.

/// Parts of the names of such fields.
const THOUGHTS: [&str; 31] = [
    "thought",
    "think",
    "reason",
    "rationale",
    "analysis",
    "plan",
    "explanation",
    "evaluation",
    "memory",
    "goal",
    "state",
    "summary",
    "reflection",
    "observation",
    "confidence",
    "comment",
    "note",
    "intent",
    "why",
    "idea",
    "consider",
    "reflexion",
    "réflexion",
    "gedanke",
    "überlegung",
    "begründung",
    "pensamiento",
    "pensée",
    "мысл",
    "思考",
    "考え",
];

/// Whether a field of this name beside an action holds a thought. Thoughts are reworded every time,
/// so two actions that differ only in them are the same.
pub fn is_thought(field: &str) -> bool {
    let field = field.to_lowercase();
    THOUGHTS.iter().any(|word| field.contains(word))
}
