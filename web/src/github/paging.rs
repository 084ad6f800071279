//! Pages of lists, and their `Link` header.

use super::addresses::Addresses;
use crate::http::links::encode;
use crate::http::response::json;
use crate::problem::Problem;
use crate::search::params::Params;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde::Serialize;
use std::ops::Range;

const PER_PAGE_DEFAULT: usize = 30;
const PER_PAGE_MAX: usize = 100;

#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    number: usize,
    items: usize,
}

impl Page {
    pub(super) fn of(params: &Params) -> Result<Page, Problem> {
        let items = params.number("per_page", PER_PAGE_DEFAULT)?;
        Ok(Page {
            number: params.number("page", 1_usize)?.max(1),
            items: items.clamp(1, PER_PAGE_MAX),
        })
    }

    pub(super) fn range(self, total: usize) -> Range<usize> {
        let start = (self.number - 1).saturating_mul(self.items);
        start.min(total)..start.saturating_add(self.items).min(total)
    }

    pub(super) fn is_behind(self, total: usize) -> bool {
        self.range(usize::MAX).start >= total
    }

    /// This page of a whole list.
    pub(super) fn answer<T: Serialize>(
        self,
        list: &[T],
        addresses: &Addresses,
        params: &Params,
    ) -> Response {
        let mut response = json(&&list[self.range(list.len())]);
        self.link(&mut response, addresses, params, list.len());
        response
    }

    pub(super) fn link(
        self,
        response: &mut Response,
        addresses: &Addresses,
        params: &Params,
        total: usize,
    ) {
        let last = total.div_ceil(self.items);
        let last = (self.number < last).then_some(last);
        self.link_to(response, addresses, params, (last.is_some(), last));
    }

    /// `more`: there is a next page, and the last one if known.
    pub(super) fn link_to(
        self,
        response: &mut Response,
        addresses: &Addresses,
        params: &Params,
        (more, last): (bool, Option<usize>),
    ) {
        let before = (self.number > 1).then_some(self.number - 1);
        let after = more.then_some(self.number + 1);
        let relations = [
            ("prev", before),
            ("next", after),
            ("last", last),
            ("first", before.map(|_| 1)),
        ];
        let pairs = params.clone().into_pairs();
        let others = pairs.iter().filter(|(name, _)| name != "page");
        let others: String = others
            .map(|(name, value)| format!("&{}={}", encode(name.as_bytes()), encode(value)))
            .collect();
        let address = addresses.this();
        let links = relations.iter().filter_map(|(relation, page)| {
            let page = (*page)?;
            Some(format!(
                "<{address}?page={page}{others}>; rel=\"{relation}\""
            ))
        });
        let links: Vec<String> = links.collect();
        if let Some(links) = HeaderValue::from_str(&links.join(", ")).ok()
            && !links.is_empty()
        {
            response.headers_mut().insert(header::LINK, links);
        }
    }
}
