//! Arguments of the tools, with the descriptions that models read.

use super::call::Failure;
use rmcp::model::JsonObject;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

macro_rules! arguments {
    ($($name:ident { $($(#[$meta:meta])* $field:ident: $type:ty = $about:literal;)* })*) => {$(
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $(#[doc = $about] $(#[$meta])* pub(super) $field: $type,)*
            #[doc = "Longest answer in tokens of 4 bytes: 100 to 20000 [default: 2000]"]
            pub(super) max_tokens: Option<u32>,
        }
    )*};
}

arguments! {
    SearchArguments {
        #[serde(alias = "pattern")] query: String =
            "Words that a file must all contain, and filters; with regexp, one regular expression";
        #[serde(default)] regexp: bool =
            "True: the query is one regular expression, as for ripgrep, spaces included";
        page: Option<String> = "Token of an earlier answer to the same query, for its next part";
    }
    ManyArguments {
        queries: Vec<String> = "Up to 8 queries, each as for `search`";
    }
    ReadArguments {
        #[serde(alias = "path")] file: String = "package/path, as in the headings of `search`";
        #[serde(default)] ranges: Vec<(u32, u32)> =
            "Ranges of line numbers, such as [[1,40],[120,160]] [default: from the first line]";
        #[serde(default)] rev: String = "Branch, tag or commit of a git repository";
    }
    FilesArguments {
        glob: Option<String> = "Glob of paths in a package, such as **/*.go";
        path: Option<String> = "Regular expression that a path must match";
        #[serde(alias = "repository", alias = "repo")] package: Option<String> =
            "Regular expression that the name of the package must match; =NAME for exactly one";
        page: Option<String> = "Token of an earlier answer, for its next part";
    }
    RepositoriesArguments {
        #[serde(default, alias = "name")] prefix: String = "First letters of the names";
        page: Option<String> = "Token of an earlier answer, for its next part";
    }
    HistoryArguments {
        #[serde(alias = "package", alias = "repo")] repository: String =
            "Name of the repository, as `repositories` lists it";
        #[serde(default)] show: Show = "log, commit or blame [default: log]";
        #[serde(default, alias = "commit")] rev: String =
            "Branch, tag or commit [default: the default branch]";
        #[serde(default)] path: String =
            "Path of a file or directory in the repository; blame needs a file";
        lines: Option<(u32, u32)> = "For blame: the first and last line, such as [10,40]";
        page: Option<String> = "Token of an earlier log, for its next part";
    }
    ExplainArguments {
        query: String = "Query as for `search`";
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Show {
    #[default]
    Log,
    Commit,
    Blame,
}

pub(super) fn parse<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, Failure> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    let bad = |bad| Failure(format!("the arguments are not valid: {bad}"));
    serde_json::from_value(arguments).map_err(bad)
}
