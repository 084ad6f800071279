//! Search of a request: its parameters (`params`, `choice`), finding or starting it (`join`,
//! `cursor`), following it (`following`, `eta`, `proof`), and its rendered answers (`rendered`).

pub(crate) mod choice;
pub(crate) mod cursor;
pub(crate) mod eta;
pub(crate) mod following;
pub(crate) mod join;
pub(crate) mod params;
pub(crate) mod proof;
pub(crate) mod query_lookups;
pub(crate) mod rendered;
