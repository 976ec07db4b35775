//! Who asks: as kubectl does it, and without a word of it in anything that is shown.

mod cases;
mod plugins;
mod secrets;
mod server;
mod table;
