//! Check of the types of variables: async-graphql panics at an unknown one with a default.

use async_graphql::async_trait::async_trait;
use async_graphql::extensions::{Extension, ExtensionContext, ExtensionFactory, NextParseQuery};
use async_graphql::parser::types::ExecutableDocument;
use async_graphql::{ServerError, ServerResult, Variables};
use std::sync::Arc;

pub(super) struct KnownTypes;

impl ExtensionFactory for KnownTypes {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(KnownTypes)
    }
}

#[async_trait]
impl Extension for KnownTypes {
    async fn parse_query(
        &self,
        ctx: &ExtensionContext<'_>,
        query: &str,
        variables: &Variables,
        next: NextParseQuery<'_>,
    ) -> ServerResult<ExecutableDocument> {
        let document = next.run(ctx, query, variables).await?;
        let known = &ctx.schema_env.registry.types;
        let operations = document.operations.iter();
        let variables = operations.flat_map(|(_, it)| &it.node.variable_definitions);
        for variable in variables {
            let of = &variable.node.var_type;
            let name = of.node.to_string();
            let name = name.trim_matches(['[', ']', '!']);
            if !known.contains_key(name) {
                let message = format!("Unknown type \"{name}\"");
                return Err(ServerError::new(message, Some(of.pos)));
            }
        }
        Ok(document)
    }
}
