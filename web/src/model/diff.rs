//! Differences of revisions and packages.

use super::ChangedFileKind;

shapes! {
    /// Files that differ between two revisions or packages.
    struct Diff {
        from: DiffSide,
        to: DiffSide,
        /// By path, or a part of them.
        files: Vec<DiffFile>,
        /// False if more files differ than are listed with all values of `after`.
        complete: bool,
        /// Value of `after` for later files; null at the end.
        #[schema(required)]
        next: Option<String>,
    }

    struct DiffSide {
        package / package_base64: String,
        /// Compared commit; absent for a package without revisions.
        commit?: String,
    }

    struct DiffFile {
        path / path_base64: String,
        kind: ChangedFileKind,
        /// Former path of a renamed file.
        was? / was_base64: String,
        before?: DiffObject,
        after?: DiffObject,
        /// Added lines, if both texts were compared.
        added?: u32,
        removed?: u32,
        /// Reason for missing hunks, such as `binary`.
        omitted?: String,
        hunks: Vec<DiffHunk>,
    }

    /// Object of git.
    struct DiffObject {
        id: String,
        #[schema(example = "100644")]
        mode: String,
    }

    /// Changed lines, with common ones around them.
    struct DiffHunk {
        /// First line in the earlier text, from 1; before it, if it has none.
        before: u32,
        before_lines: u32,
        after: u32,
        after_lines: u32,
        lines: Vec<DiffLine>,
    }

    struct DiffLine {
        kind: DiffLineKind,
        /// Line without its newline.
        text / text_base64: String,
        /// Start and end of changed words, in bytes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        words: Vec<(u32, u32)>,
        /// Present and true at the end of a text without a newline.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        no_newline: bool,
    }

    enum DiffLineKind {
        Same,
        Removed,
        Added,
    }
}
