//! Files of the data directory: the key file, and files that only their owner can read.

mod key_file;
mod private;

pub(crate) use key_file::{KeyFile, Sealed};
pub(crate) use private::{create_private_dir, create_private_file};
