//! Parts that several pages share: their frame, bars, charts, forms and bodies.

pub(in crate::pages) mod budget_bar;
pub(in crate::pages) mod chart;
pub(crate) mod exemptions;
pub(in crate::pages) mod figures;
pub(in crate::pages) mod frame;
pub(in crate::pages) mod pager;
pub(in crate::pages) mod policy_fields;
pub(in crate::pages) mod policy_form;
pub(in crate::pages) mod score_bar;
pub(in crate::pages) mod undo;
pub(in crate::pages) mod whole_body;
