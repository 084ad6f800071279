//! Whatever is typed is understood or refused, and what is understood can be written down.
