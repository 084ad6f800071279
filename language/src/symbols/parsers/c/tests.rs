//! Outlines of each language.

mod c;
mod cpp;
mod hostile;
mod hosts;
mod objective;
mod shaders;
